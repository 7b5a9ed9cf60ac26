// SPDX-License-Identifier: Apache-2.0
// Tests pools of device memory.
#include <atomic>
#include <cstdlib>
#include <limits>
#include <thread>

#include "library.h"
#include "support/callback.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

void* allocate(arrowdevice_pool* pool, int64_t size, int64_t id = 0) {
  return output_of(arrowdevice_buffer_allocate, sim(id), pool, nullptr, size);
}

void give_back(void* buffer, int64_t id = 0) { arrowdevice_buffer_free(sim(id), nullptr, buffer); }

TEST_CASE("a pool reuses memory for any similar size") {
  begin();
  const Pool pool = make_pool(sim(0));
  void* const first = allocate(pool.get(), 100'000);
  give_back(first);
  void* const again = allocate(pool.get(), 99'000);
  CHECK(again == first);
  CHECK(stats(pool.get()).driver_allocations == 1);
  CHECK(stats(pool.get()).allocations == 2);
  void* const other = allocate(pool.get(), 200'000);
  CHECK(stats(pool.get()).driver_allocations == 2);
  give_back(again);
  give_back(other);
}

TEST_CASE("a pool wastes at most an eighth of each size above the smallest blocks") {
  begin();
  const Pool pool = make_pool(sim(0));
  for (int64_t size = 5'000; size < 3'000'000; size = size * 7 / 5 + 1) {
    const int64_t before = stats(pool.get()).used_bytes;
    void* const buffer = allocate(pool.get(), size);
    const int64_t used = stats(pool.get()).used_bytes - before;
    INFO(size);
    CHECK(used >= size);
    CHECK(used <= size + size / 8 + 512);
    give_back(buffer);
    CHECK(stats(pool.get()).used_bytes == before);
  }
}

TEST_CASE("a pool's statistics count used and cached memory and driver allocations") {
  begin();
  const Pool pool = make_pool(sim(0));
  void* const first = allocate(pool.get(), 1 << 20);
  void* const second = allocate(pool.get(), 1 << 21);
  CHECK(stats(pool.get()).used_bytes == 3 << 20);
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(stats(pool.get()).peak_bytes == 3 << 20);
  give_back(first);
  CHECK(stats(pool.get()).used_bytes == 2 << 20);
  CHECK(stats(pool.get()).cached_bytes == 1 << 20);
  CHECK(stats(pool.get()).peak_bytes == 3 << 20);
  give_back(second);
  CHECK(stats(pool.get()).cached_bytes == 3 << 20);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(stats(pool.get()).peak_bytes == 3 << 20);
  CHECK(control::counters(0).bytes_live == 0);
}

TEST_CASE("a pool caches up to max_cached_bytes, the newest blocks first") {
  begin();
  auto options = pool_options();
  options.max_cached_bytes = 3 << 20;
  const Pool pool = make_pool(sim(0), &options);
  std::vector<void*> buffers;
  for (int i = 0; i < 5; ++i) buffers.push_back(allocate(pool.get(), 1 << 20));
  for (void* const buffer : buffers) give_back(buffer);
  CHECK(stats(pool.get()).cached_bytes == 3 << 20);
  CHECK(control::counters(0).bytes_live == 3 << 20);
  void* const big = allocate(pool.get(), 4 << 20);  // more than the pool may cache
  give_back(big);
  CHECK(stats(pool.get()).cached_bytes == 3 << 20);
  void* const newest = allocate(pool.get(), 1 << 20);
  CHECK(newest == buffers.back());
  give_back(newest);
}

TEST_CASE("a full cache loses its oldest block, whatever the sizes") {
  constexpr int64_t kMiB = 1 << 20;
  for (const int64_t oldest : {2 * kMiB, 3 * kMiB}) {  // smaller and larger than the next block
    INFO(oldest);
    const int64_t next = 5 * kMiB - oldest;
    begin();
    auto options = pool_options();
    options.max_cached_bytes = 6 * kMiB;
    const Pool pool = make_pool(sim(0), &options);
    void* const first = allocate(pool.get(), oldest);
    void* const second = allocate(pool.get(), next);
    void* const third = allocate(pool.get(), 2 * kMiB + kMiB / 2);
    for (void* const buffer : {first, second, third}) give_back(buffer);
    CHECK(stats(pool.get()).cached_bytes == next + 2 * kMiB + kMiB / 2);
    CHECK(allocate(pool.get(), next) == second);
    CHECK(allocate(pool.get(), 2 * kMiB + kMiB / 2) == third);
    CHECK(stats(pool.get()).driver_allocations == 3);
    give_back(second);
    give_back(third);
  }
}

TEST_CASE("a pool with a cache of 0 bytes frees everything at once") {
  begin();
  auto options = pool_options();
  options.max_cached_bytes = -1;
  const Pool pool = make_pool(sim(0), &options);
  give_back(allocate(pool.get(), 1 << 20));
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(control::counters(0).bytes_live == 0);
}

TEST_CASE("a pool caches by default at most a quarter of the free memory") {
  auto configured = configuration();
  for (auto& device : configured.devices) device.memory = 8 << 20;
  begin(configured);
  const Pool pool = make_pool(sim(0));
  std::vector<void*> buffers;
  for (int i = 0; i < 6; ++i) buffers.push_back(allocate(pool.get(), 1 << 20));
  for (void* const buffer : buffers) give_back(buffer);
  CHECK(stats(pool.get()).cached_bytes == 2 << 20);
}

// The memory is never touched, so the host does not provide it.
TEST_CASE("a pool of a large device caches by default at most an eighth of its memory") {
  constexpr int64_t kGiB = int64_t{1} << 30;
  auto configured = configuration();
  for (auto& device : configured.devices) device.memory = 16 * kGiB;
  begin(configured);
  const Pool pool = make_pool(sim(0));
  std::vector<void*> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(allocate(pool.get(), kGiB));
  for (void* const buffer : buffers) give_back(buffer);
  CHECK(stats(pool.get()).cached_bytes == 2 * kGiB);
}

TEST_CASE("a pool stays below max_bytes and frees cached memory for a new request") {
  begin();
  auto options = pool_options();
  options.max_bytes = 3 << 20;
  const Pool pool = make_pool(sim(0), &options);
  void* const first = allocate(pool.get(), 2 << 20);
  void* refused_buffer = nullptr;
  const std::string why =
      must_fail(ENOMEM, arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 2 << 20, &refused_buffer);
  CHECK(contains(why, "limit"));
  CHECK(contains(why, "ext_dev:0"));
  CHECK(stats(pool.get()).used_bytes == 2 << 20);
  void* const second = allocate(pool.get(), 1 << 20);  // fills the pool to its limit
  give_back(first);
  give_back(second);
  CHECK(stats(pool.get()).cached_bytes == 3 << 20);
  void* const third = allocate(pool.get(), 3 << 20);
  CHECK(stats(pool.get()).used_bytes == 3 << 20);
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(control::counters(0).bytes_peak == 3 << 20);
  give_back(third);
  must_fail(ENOMEM, arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, (3 << 20) + 1, &refused_buffer);
}

TEST_CASE("a copy above max_bytes fails as a whole, and fits after a release") {
  begin();
  auto options = pool_options();
  options.max_bytes = 1 << 20;
  const Pool pool = make_pool(sim(0), &options);
  Sample sample(field("l"), {.rows = 1'000});
  void* const block = allocate(pool.get(), 1 << 20);
  auto copying = copy_options();
  copying.pool = pool.get();
  Array out;
  must_fail(ENOMEM, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), &copying, out.out());
  CHECK(out.released());
  give_back(block);
  out = copy(*sample.host, *sample.schema, sim(0), copying);
  CHECK(difference(sample, *out) == "");
}

TEST_CASE("a pool frees its cached memory and asks again when the driver has no memory") {
  begin();
  const Pool pool = make_pool(sim(0));
  give_back(allocate(pool.get(), 1 << 20));
  CHECK(control::counters(0).allocations_live == 1);
  control::fail_next("buffer_allocate", ENOMEM);
  const int64_t calls = control::calls("buffer_allocate");
  void* const buffer = allocate(pool.get(), 4 << 20);
  CHECK(control::calls("buffer_allocate") == calls + 2);
  CHECK(control::counters(0).allocations_live == 1);
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(stats(pool.get()).used_bytes == 4 << 20);
  give_back(buffer);
}

TEST_CASE("a pool asks the driver once if nothing is cached or another error occurs") {
  begin();
  const Pool pool = make_pool(sim(0));
  void* buffer = nullptr;
  control::fail_next("buffer_allocate", ENOMEM);
  int64_t calls = control::calls("buffer_allocate");
  arrowdevice_error error{};
  CHECK(arrowdevice_buffer_allocate(sim(0), pool.get(), nullptr, 100, &buffer, &error) == ENOMEM);
  CHECK(std::string(error.backend) == "sim");
  CHECK(control::calls("buffer_allocate") == calls + 1);
  give_back(allocate(pool.get(), 1 << 20));
  control::fail_next("buffer_allocate", EIO);
  calls = control::calls("buffer_allocate");
  CHECK(arrowdevice_buffer_allocate(sim(0), pool.get(), nullptr, 4 << 20, &buffer, nullptr) == EIO);
  CHECK(control::calls("buffer_allocate") == calls + 1);
  CHECK(stats(pool.get()).used_bytes == 0);
  CHECK(stats(pool.get()).cached_bytes == 1 << 20);
}

TEST_CASE("a full device fails with the driver's text") {
  auto configured = configuration();
  configured.devices[0].memory = 1 << 20;
  begin(configured);
  void* buffer = nullptr;
  must_fail_saying(ENOMEM, "memory", arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 2 << 20, &buffer);
  Sample sample(field("w:1024"), {.rows = 2'000, .nulls = Nulls::kNone});
  Array out;
  must_fail(ENOMEM, arrowdevice_array_copy, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out());
  must_fail(ENOMEM, arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out());
  CHECK_FALSE(sample.host.released());
  CHECK(control::counters(0).bytes_live == 0);
}

// An application's allocator over the driver of device 0.
struct Allocator {
  explicit Allocator(void* device) : device_handle(device) {}

  arrowdevice_pool_options options() {
    auto made = pool_options();
    made.allocate = [](void* user, int64_t size, int64_t alignment, void* native_queue, void** out) {
      enter_callback("allocate of a pool");
      auto& self = *static_cast<Allocator*>(user);
      if (self.fails_with != 0) return self.fails_with;
      self.last_queue = native_queue;
      self.last_alignment = alignment;
      ++self.allocations;
      arrowdevice_error error{};
      return control::table()->buffer_allocate(self.device_handle, nullptr, size, alignment, out, &error);
    };
    made.deallocate = [](void* user, void* buffer, int64_t size, void*) {
      enter_callback("deallocate of a pool");
      auto& self = *static_cast<Allocator*>(user);
      ++self.deallocations;
      self.bytes_back += size;
      control::table()->buffer_free(self.device_handle, nullptr, buffer);
    };
    made.destroy = [](void* user) {
      enter_callback("destroy of a pool");
      auto& self = *static_cast<Allocator*>(user);
      ++self.destroyed;
      self.destroyed_last = self.allocations == self.deallocations;
    };
    made.user = this;
    return made;
  }

  void* device_handle;
  int fails_with = 0;
  int64_t last_alignment = 0;
  void* last_queue = nullptr;
  std::atomic<int> allocations{0}, deallocations{0}, destroyed{0};
  std::atomic<int64_t> bytes_back{0};
  bool destroyed_last = false;
};

void* handle_of(int64_t id) {
  auto native = output_of(arrowdevice_device_get_native, sim(id));
  return native.device;
}

TEST_CASE("a pool uses the application's allocator and ends it after the last buffer") {
  begin();
  Allocator allocator(handle_of(0));
  const auto options = allocator.options();
  Pool pool = make_pool(sim(0), &options);
  auto copying = copy_options();
  copying.pool = pool.get();
  Sample sample(mixed_batch(), {.rows = 30});
  Array there = copy(*sample.host, *sample.schema, sim(0), copying);
  CHECK(allocator.allocations == 1);
  CHECK(allocator.last_alignment == describe(sim(0)).buffer_alignment);
  CHECK(difference(sample, *there) == "");
  pool.reset();
  CHECK(allocator.destroyed == 0);
  CHECK(difference(sample, *there) == "");
  there.reset();
  CHECK(allocator.deallocations == 1);
  CHECK(allocator.destroyed == 1);
  CHECK(allocator.destroyed_last);
  CHECK(control::counters(0).bytes_live == 0);
}

TEST_CASE("a refused pool calls nothing of the application, which keeps its options") {
  begin();
  Allocator allocator(handle_of(0));
  const auto good = allocator.options();
  arrowdevice_pool* pool = nullptr;
  const auto refuse = [&](const arrowdevice_pool_options& options, arrowdevice_device* device) {
    pool = reinterpret_cast<arrowdevice_pool*>(8);
    must_fail(EINVAL, arrowdevice_pool_create, device, &options, &pool);
    CHECK(pool == nullptr);
    CHECK(allocator.allocations == 0);
    CHECK(allocator.deallocations == 0);
    CHECK(allocator.destroyed == 0);
  };
  auto options = good;
  options.flags = 1;
  refuse(options, sim(0));
  options = good;
  options.max_bytes = -1;
  refuse(options, sim(0));
  options = good;
  options.allocate = nullptr;
  refuse(options, sim(0));
  options = good;
  options.deallocate = nullptr;
  refuse(options, sim(0));
  options = good;
  options.struct_size = 8;
  refuse(options, sim(0));
  refuse(good, nullptr);
  // The same options work in the next call. The allocator is destroyed once, with that pool.
  must(arrowdevice_pool_create, sim(0), &good, &pool);
  arrowdevice_pool_destroy(pool);
  CHECK(allocator.destroyed == 1);
  CHECK(allocator.allocations == 0);
}

TEST_CASE("the application's allocator gets the queue that uses the memory first") {
  begin();
  Allocator allocator(handle_of(0));
  const auto options = allocator.options();
  const Pool pool = make_pool(sim(0), &options);
  const Queue queue = make_queue(sim(0));
  auto native = output_of(arrowdevice_queue_get_native, queue.get());
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), queue.get(), 100);
  CHECK(allocator.last_queue == native.queue);
  give_back(buffer);
  must(arrowdevice_pool_trim, pool.get());
  must(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 100, &buffer);
  CHECK(allocator.last_queue == nullptr);
  give_back(buffer);
}

TEST_CASE("a failed allocator fails the call with its code") {
  begin();
  Allocator allocator(handle_of(0));
  const auto options = allocator.options();
  const Pool pool = make_pool(sim(0), &options);
  allocator.fails_with = ENOSPC;
  void* buffer = nullptr;
  must_fail_saying(ENOSPC, "allocator", arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 100, &buffer);
  CHECK(stats(pool.get()).used_bytes == 0);
  allocator.fails_with = 0;
  give_back(allocate(pool.get(), 1 << 20));
  CHECK(allocator.deallocations == 0);  // the memory is cached
  must(arrowdevice_pool_trim, pool.get());
  CHECK(allocator.deallocations == 1);
  CHECK(allocator.bytes_back == 1 << 20);
}

TEST_CASE("a pool serves several threads, and its statistics are consistent") {
  begin();
  const Pool pool = make_pool(sim(0));
  arrowdevice_device* const device = sim(0);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        void* buffer = nullptr;
        if (arrowdevice_buffer_allocate(device, pool.get(), nullptr, 1'000 * (1 + (i + t) % 7), &buffer, nullptr) !=
            0) {
          ++failures;
        }
        arrowdevice_buffer_free(device, nullptr, buffer);
        if (i % 50 == 0) arrowdevice_pool_trim(pool.get(), nullptr);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  const auto figures = stats(pool.get());
  CHECK(figures.used_bytes == 0);
  CHECK(figures.allocations == 4 * 200);
  CHECK(figures.cached_bytes == control::counters(0).bytes_live);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(control::counters(0).bytes_live == 0);
  CHECK(control::refused() == 0);
}

}  // namespace
