// SPDX-License-Identifier: Apache-2.0
// Tests pools of device memory.
#include <algorithm>
#include <atomic>
#include <cerrno>

#include "conformance/bytes.h"

namespace arrowdevice::conformance {

namespace {

Pool make_pool(const Subject& subject, const arrowdevice_pool_options* options = nullptr) {
  auto* made = output_of(arrowdevice_pool_create, subject.device(), options);
  return Pool(made);
}

arrowdevice_pool_options default_options() {
  auto options = sized<arrowdevice_pool_options>();
  return options;
}

void counts_its_memory(Subject& subject) {
  const Pool pool = make_pool(subject);
  PoolStats stats = subject.stats(pool.get());
  expect(stats.used_bytes == 0 && stats.cached_bytes == 0 && stats.allocations == 0, "a new pool is not empty");
  {
    const DeviceBuffer buffer(subject.device(), 10'000, pool.get());
    stats = subject.stats(pool.get());
    expect(stats.used_bytes >= 10'000 && stats.allocations == 1 && stats.driver_allocations == 1,
           "a buffer is not counted");
    expect(stats.peak_bytes >= stats.used_bytes, "the peak is below what is used");
  }
  stats = subject.stats(pool.get());
  expect(stats.used_bytes == 0, "a freed buffer is still counted");
  expect(stats.peak_bytes >= 10'000, "the peak went back");
}

void uses_memory_again(Subject& subject) {
  const Pool pool = make_pool(subject);
  for (int i = 0; i < 5; ++i) const DeviceBuffer buffer(subject.device(), 10'000, pool.get());
  const PoolStats stats = subject.stats(pool.get());
  expect(stats.allocations == 5, "not every buffer is counted");
  expect(stats.driver_allocations == 1, "what was freed was not used again");
  expect(stats.cached_bytes >= 10'000, "nothing is kept");
}

void trims(Subject& subject) {
  const Pool pool = make_pool(subject);
  const DeviceBuffer live(subject.device(), 5'000, pool.get());
  { const DeviceBuffer buffer(subject.device(), 100'000, pool.get()); }
  must(arrowdevice_pool_trim, pool.get());
  const PoolStats stats = subject.stats(pool.get());
  expect(stats.cached_bytes == 0, "a trimmed pool keeps something");
  expect(stats.used_bytes >= 5'000, "trimming took what is in use");
}

int64_t free_bytes(const Subject& subject) {
  int64_t free_bytes = -1;
  must(arrowdevice_device_get_memory_info, subject.device(), &free_bytes, nullptr);
  return free_bytes;
}

// Fails if memory that was freed stays taken, as far as the driver reports free memory. Repeats the
// measurement, because other programs may take memory of the device in the meantime.
void gives_memory_back(Subject& subject) {
  constexpr int64_t kLargest = 64 << 20;
  constexpr int kRounds = 16;
  constexpr int kAttempts = 3;
  const int64_t size = std::min(kLargest, free_bytes(subject) / (4 * kRounds * kAttempts));
  if (size <= 0 || subject.is_cpu()) return;
  const Pool pool = make_pool(subject);
  int64_t lost = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int64_t before = free_bytes(subject);
    for (int i = 0; i < kRounds; ++i) {
      { const DeviceBuffer buffer(subject.device(), size, pool.get()); }
      must(arrowdevice_pool_trim, pool.get());
    }
    wait_idle();
    lost = before - free_bytes(subject);
    if (lost < size * kRounds / 2) return;
  }
  expect(false,
         "what was given back is still taken: " + std::to_string(lost) + " bytes of " + std::to_string(size * kRounds));
}

void keeps_nothing(Subject& subject) {
  arrowdevice_pool_options options = default_options();
  options.max_cached_bytes = -1;
  const Pool pool = make_pool(subject, &options);
  { const DeviceBuffer buffer(subject.device(), 100'000, pool.get()); }
  expect(subject.stats(pool.get()).cached_bytes == 0, "a pool that is to keep nothing keeps something");
}

void bounds_what_it_keeps(Subject& subject) {
  arrowdevice_pool_options options = default_options();
  options.max_cached_bytes = 300'000;
  const Pool pool = make_pool(subject, &options);
  {
    std::vector<DeviceBuffer> buffers;
    for (int i = 0; i < 20; ++i) buffers.emplace_back(subject.device(), 100'000, pool.get());
  }
  expect(subject.stats(pool.get()).cached_bytes <= 300'000, "it keeps more than it may");
}

void has_a_cap(Subject& subject) {
  arrowdevice_pool_options options = default_options();
  options.max_bytes = 4 << 20;
  const Pool pool = make_pool(subject, &options);
  void* none = &options;
  {
    const DeviceBuffer first(subject.device(), 3'000'000, pool.get());
    must_fail(ENOMEM, arrowdevice_buffer_allocate, subject.device(), pool.get(), nullptr, 3'000'000, &none);
    expect(none == nullptr, "a failed allocation gave something");
  }
  // Cached memory is freed if an allocation needs the space.
  { const DeviceBuffer other_size(subject.device(), 3'500'000, pool.get()); }
  const PoolStats stats = subject.stats(pool.get());
  expect(stats.peak_bytes <= 4 << 20, "the pool went above its cap");

  Sample sample(testing::find_case("20000 rows of utf8"));
  options.max_bytes = 1'000;
  const Pool tiny = make_pool(subject, &options);
  auto copy = sized<arrowdevice_copy_options>();
  copy.pool = tiny.get();
  Owned<ArrowDeviceArray> out;
  must_fail(ENOMEM, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &copy, out.out());
  expect(out.released(), "a failed copy left something");
  sample.expect_values(sample.host->array);
}

void serves_copies(Subject& subject) {
  Pool pool = make_pool(subject);
  Sample sample(testing::find_case("record batch"));
  auto options = sized<arrowdevice_copy_options>();
  options.pool = pool.get();
  auto out = output_of(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options);
  expect(subject.stats(pool.get()).used_bytes > 0, "a copy took nothing of the pool that it was given");
  // The array holds a reference to its pool.
  pool.reset();
  auto back = subject.to_cpu(*out, *sample.schema);
  sample.expect_values(back->array);
}

void outlives_its_handle(Subject& subject) {
  Pool pool = make_pool(subject);
  const Bytes sent = pattern(1'000);
  Bytes received(1'000);
  const Queue queue = subject.queue();
  const DeviceBuffer buffer(subject.device(), 1'000, pool.get());
  pool.reset();
  enqueue(queue.get(), {region_in(subject.device(), buffer.get(), 0, sent.data(), 1'000)});
  enqueue(queue.get(), {region_out(received.data(), subject.device(), buffer.get(), 0, 1'000)});
  finish(queue.get());
  expect(received == sent, "a buffer of a destroyed pool lost its bytes");
  arrowdevice_pool_destroy(nullptr);
}

void becomes_the_default(Subject& subject) {
  Pool pool = make_pool(subject);
  auto* before = output_of(arrowdevice_device_get_pool, subject.device());
  must(arrowdevice_device_set_pool, subject.device(), pool.get());
  auto* now = output_of(arrowdevice_device_get_pool, subject.device());
  expect(now == pool.get(), "the device has another default pool than was set");
  int64_t used = 0;
  {
    const DeviceBuffer buffer(subject.device(), 1'000);
    used = subject.stats(pool.get()).used_bytes;
  }
  must(arrowdevice_device_set_pool, subject.device(), nullptr);
  must(arrowdevice_device_get_pool, subject.device(), &now);
  expect(used >= 1'000, "the default pool was not used");
  expect(now == before, "the library's own pool did not come back");
}

// An allocator of the application. It takes memory from the device's default pool and counts the calls.
struct Allocator {
  arrowdevice_device* device;
  std::atomic<int> allocated{0};
  std::atomic<int> deallocated{0};
  std::atomic<int> destroyed{0};
  std::atomic<int64_t> bytes{0};

  static int allocate(void* user, int64_t size, int64_t, void*, void** out) {
    auto* self = static_cast<Allocator*>(user);
    const int code = arrowdevice_buffer_allocate(self->device, nullptr, nullptr, size, out, nullptr);
    if (code == 0) {
      ++self->allocated;
      self->bytes += size;
    }
    return code;
  }
  static void deallocate(void* user, void* buffer, int64_t size, void*) {
    auto* self = static_cast<Allocator*>(user);
    ++self->deallocated;
    self->bytes -= size;
    arrowdevice_buffer_free(self->device, nullptr, buffer);
  }
  static void destroy(void* user) { ++static_cast<Allocator*>(user)->destroyed; }
};

void takes_an_allocator(Subject& subject) {
  Allocator allocator{subject.device()};
  arrowdevice_pool_options options = default_options();
  options.user = &allocator;
  options.allocate = Allocator::allocate;
  options.deallocate = Allocator::deallocate;
  options.destroy = Allocator::destroy;
  {
    Pool pool = make_pool(subject, &options);
    Sample sample(testing::find_case("record batch"));
    auto copy = sized<arrowdevice_copy_options>();
    copy.pool = pool.get();
    auto out = output_of(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &copy);
    expect(allocator.allocated > 0, "the application's allocator was not asked");
    pool.reset();
    expect(allocator.destroyed == 0, "the allocator was destroyed before its memory");
    auto back = subject.to_cpu(*out, *sample.schema);
    sample.expect_values(back->array);
  }
  wait_idle();
  expect(allocator.allocated == allocator.deallocated && allocator.bytes == 0, "not all of its memory came back");
  expect(allocator.destroyed == 1, "the allocator was destroyed " + std::to_string(allocator.destroyed) + " times");

  options.deallocate = nullptr;
  arrowdevice_pool* none = nullptr;
  must_fail(EINVAL, arrowdevice_pool_create, subject.device(), &options, &none);
}

void belongs_to_its_device(Subject& subject) {
  const Pool pool = make_pool(subject);
  void* none = nullptr;
  must_fail(EINVAL, arrowdevice_buffer_allocate, subject.peer(), pool.get(), nullptr, 100, &none);
  must_fail(EINVAL, arrowdevice_device_set_pool, subject.peer(), pool.get());
}

}  // namespace

std::span<const Case> pool_cases() {
  static constexpr Case kCases[] = {
      {"a pool counts its used memory", kNeedsNothing, counts_its_memory},
      {"a pool reuses freed memory", kNeedsNothing, uses_memory_again},
      {"trimming a pool frees its unused memory", kNeedsNothing, trims},
      {"memory that is freed can be allocated again", kNeedsNothing, gives_memory_back},
      {"a pool with a cache of 0 bytes caches nothing", kNeedsNothing, keeps_nothing},
      {"a pool caches at most max_cached_bytes", kNeedsNothing, bounds_what_it_keeps},
      {"a pool stays below max_bytes, and a copy that does not fit fails as a whole", kNeedsNothing, has_a_cap},
      {"a copy uses the given pool and holds a reference to it", kNeedsNothing, serves_copies},
      {"live buffers of a pool hold a reference to it", kNeedsNothing, outlives_its_handle},
      {"a pool becomes the default of its device and the former one comes back", kNeedsNothing, becomes_the_default},
      {"a pool takes its memory from the application's allocator", kNeedsNothing, takes_an_allocator},
      {"another device refuses a pool", kNeedsPeer, belongs_to_its_device},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
