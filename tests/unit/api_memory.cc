// SPDX-License-Identifier: Apache-2.0
// Tests the functions about queues, pools and bytes.
#include <limits>

#include "library.h"
#include "support/callback.h"
#include "support/variable.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

std::vector<unsigned char> sample_bytes(int64_t size) {
  std::vector<unsigned char> bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i % 97 + 1);
  return bytes;
}

arrowdevice_copy_region to_device(arrowdevice_device* device, void* buffer, const void* from, int64_t size) {
  return {.dst_device = device,
          .dst = buffer,
          .dst_offset = 0,
          .src_device = nullptr,
          .src = from,
          .src_offset = 0,
          .size = size,
          .reserved = 0};
}

arrowdevice_copy_region to_host(void* to, arrowdevice_device* device, const void* buffer, int64_t size) {
  return {.dst_device = nullptr,
          .dst = to,
          .dst_offset = 0,
          .src_device = device,
          .src = buffer,
          .src_offset = 0,
          .size = size,
          .reserved = 0};
}

// A buffer of the default pool.
class Allocation {
 public:
  Allocation(arrowdevice_device* device, int64_t size) : device_(device) {
    must(arrowdevice_buffer_allocate, device, nullptr, nullptr, size, &buffer_);
  }
  ~Allocation() { arrowdevice_buffer_free(device_, nullptr, buffer_); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  void* get() const { return buffer_; }

 private:
  arrowdevice_device* device_;
  void* buffer_ = nullptr;
};

TEST_CASE("a queue runs in order, and finish returns after all its work") {
  begin();
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    const Allocation buffer(sim(id), 1'000);
    const Queue queue = make_queue(sim(id));
    const auto bytes = sample_bytes(1'000);
    std::vector<unsigned char> back(1'000);
    const auto in = to_device(sim(id), buffer.get(), bytes.data(), 1'000);
    const auto out = to_host(back.data(), sim(id), buffer.get(), 1'000);
    Held engine(id);
    must(arrowdevice_queue_copy, queue.get(), &in, 1);
    must(arrowdevice_queue_copy, queue.get(), &out, 1);
    must_fail_saying(ETIMEDOUT, "not done", arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);
    must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), 1'000'000);
    engine.resume();
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);  // no work was submitted after the drain
    CHECK(back == bytes);
  }
}

TEST_CASE("a queue is not finished while the application's own work on it is pending") {
  begin();
  const Queue queue = make_queue(sim(0));
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  auto native = output_of(arrowdevice_queue_get_native, queue.get());
  auto* made = output_of(arrowdevice_queue_wrap, sim(0), &native);
  const Queue same(made);
  must(arrowdevice_queue_finish, same.get(), ARROWDEVICE_NO_TIMEOUT);
  const Allocation buffer(sim(0), 64);
  const auto bytes = sample_bytes(64);
  const auto in = to_device(sim(0), buffer.get(), bytes.data(), 64);
  for (auto [working, other] : {std::pair(&queue, &same), std::pair(&same, &queue)}) {
    Held engine(0);
    must(arrowdevice_queue_copy, working->get(), &in, 1);
    must_fail(ETIMEDOUT, arrowdevice_queue_finish, other->get(), ARROWDEVICE_POLL);
    engine.resume();
    must(arrowdevice_queue_finish, other->get(), ARROWDEVICE_NO_TIMEOUT);
  }
}

TEST_CASE("finishing a queue fails if its work failed") {
  begin();
  const Queue queue = make_queue(sim(0));
  Held engine(0);
  control::lose(0);
  must_fail(EIO, arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("a queue that is destroyed finishes its work") {
  begin();
  const Allocation buffer(sim(0), 64);
  const auto bytes = sample_bytes(64);
  const auto in = to_device(sim(0), buffer.get(), bytes.data(), 64);
  Queue queue = make_queue(sim(0));
  Held engine(0);
  must(arrowdevice_queue_copy, queue.get(), &in, 1);
  const int64_t live = control::counters(0).queues_live;
  queue.reset();
  CHECK(control::counters(0).queues_live == live - 1);
  arrowdevice_queue_destroy(nullptr);
  const Queue other = make_queue(sim(0));
  engine.resume();
  must(arrowdevice_queue_finish, other.get(), ARROWDEVICE_NO_TIMEOUT);
  std::vector<unsigned char> got(64);
  control::peek(0, buffer.get(), 0, got.data(), 64);
  CHECK(got == bytes);
}

TEST_CASE("destroying a wrapped queue leaves the native queue alone") {
  begin();
  const Queue owned = make_queue(sim(0));
  auto native = output_of(arrowdevice_queue_get_native, owned.get());
  REQUIRE(native.queue != nullptr);
  auto* made = output_of(arrowdevice_queue_wrap, sim(0), &native);
  Queue wrapped(made);
  auto same = output_of(arrowdevice_queue_get_native, wrapped.get());
  CHECK(same.queue == native.queue);

  // The wrapped queue and the original are the same queue, so the work of both runs in order.
  const Allocation buffer(sim(0), 64);
  const auto bytes = sample_bytes(64);
  std::vector<unsigned char> back(64);
  const auto in = to_device(sim(0), buffer.get(), bytes.data(), 64);
  const auto out = to_host(back.data(), sim(0), buffer.get(), 64);
  must(arrowdevice_queue_copy, wrapped.get(), &in, 1);
  must(arrowdevice_queue_copy, owned.get(), &out, 1);
  wrapped.reset();
  must(arrowdevice_queue_finish, owned.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK(back == bytes);

  native.queue = nullptr;  // the driver's default queue
  must(arrowdevice_queue_wrap, sim(0), &native, &made);
  wrapped.reset(made);
  must(arrowdevice_queue_finish, wrapped.get(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("invalid queues are refused") {
  begin();
  auto* queue = reinterpret_cast<arrowdevice_queue*>(8);
  must_fail_saying(EINVAL, "device", arrowdevice_queue_create, nullptr, &queue);
  CHECK(queue == nullptr);
  must_fail(EINVAL, arrowdevice_queue_create, sim(0), nullptr);
  auto native = sized<arrowdevice_native_queue>();
  int not_a_queue = 0;
  native.queue = &not_a_queue;
  queue = reinterpret_cast<arrowdevice_queue*>(8);
  must_fail(EINVAL, arrowdevice_queue_wrap, sim(0), &native, &queue);
  CHECK(queue == nullptr);
  must_fail(EINVAL, arrowdevice_queue_wrap, sim(0), nullptr, &queue);
  must_fail(EINVAL, arrowdevice_queue_wrap, sim(0), &native, nullptr);
  must_fail(EINVAL, arrowdevice_queue_wrap, nullptr, &native, &queue);
  must_fail(ENOTSUP, arrowdevice_queue_wrap, cpu(), &native, &queue);
  must_fail(EINVAL, arrowdevice_queue_get_native, nullptr, &native);
  const Queue owned = make_queue(sim(0));
  must_fail(EINVAL, arrowdevice_queue_get_native, owned.get(), nullptr);
  const Queue on_cpu = make_queue(cpu());
  must_fail(ENOTSUP, arrowdevice_queue_get_native, on_cpu.get(), &native);
  must_fail(EINVAL, arrowdevice_queue_finish, nullptr, ARROWDEVICE_POLL);
}

TEST_CASE("a created pool counts its memory, which outlives the pool") {
  begin();
  Pool pool = make_pool(sim(0));
  CHECK(stats(pool.get()).allocations == 0);
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 10'000);
  CHECK(stats(pool.get()).used_bytes >= 10'000);
  CHECK(stats(pool.get()).allocations == 1);
  CHECK(stats(pool.get()).driver_allocations == 1);
  CHECK(stats(pool.get()).peak_bytes == stats(pool.get()).used_bytes);
  pool.reset();
  CHECK(control::counters(0).allocations_live == 1);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  CHECK(control::counters(0).allocations_live == 0);
  arrowdevice_pool_destroy(nullptr);
}

TEST_CASE("trimming a pool frees its cached memory") {
  begin();
  const Pool pool = make_pool(sim(0));
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 10'000);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(control::counters(0).allocations_live == 1);  // the buffer is in use
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  CHECK(stats(pool.get()).cached_bytes >= 10'000);
  CHECK(control::counters(0).allocations_live == 1);
  must(arrowdevice_pool_trim, pool.get());
  CHECK(stats(pool.get()).cached_bytes == 0);
  CHECK(control::counters(0).allocations_live == 0);
}

TEST_CASE("a device holds a reference to the default pool that a caller has set") {
  begin();
  arrowdevice_pool* const own = default_pool(sim(0));
  Pool pool = make_pool(sim(0));
  arrowdevice_pool* const raw = pool.get();
  must(arrowdevice_device_set_pool, sim(0), pool.get());
  CHECK(default_pool(sim(0)) == raw);
  pool.reset();
  Sample sample(field("l"));
  const int64_t before = stats(own).allocations;
  const auto there = copy(sample, sim(0));
  CHECK(stats(raw).allocations == 1);
  CHECK(stats(own).allocations == before);
  must(arrowdevice_device_set_pool, sim(0), nullptr);
  CHECK(default_pool(sim(0)) == own);
  CHECK(difference(sample, *there) == "");
}

TEST_CASE("invalid pools are refused") {
  begin();
  auto* pool = reinterpret_cast<arrowdevice_pool*>(8);
  must_fail_saying(EINVAL, "device", arrowdevice_pool_create, nullptr, nullptr, &pool);
  CHECK(pool == nullptr);
  must_fail(EINVAL, arrowdevice_pool_create, sim(0), nullptr, nullptr);
  auto options = pool_options();
  options.flags = ARROWDEVICE_POOL_WAIT_FOR_CONTEXT;
  must_fail_saying(ENOTSUP, "device_record_event", arrowdevice_pool_create, sim(0), &options, &pool);
  options.flags = uint32_t{1} << 31;
  must_fail_saying(EINVAL, "flags", arrowdevice_pool_create, sim(0), &options, &pool);
  options = pool_options();
  options.max_bytes = -1;
  must_fail_saying(EINVAL, "max_bytes", arrowdevice_pool_create, sim(0), &options, &pool);
  options = pool_options();
  options.deallocate = [](void*, void*, int64_t, void*) {};
  must_fail_saying(EINVAL, "allocate", arrowdevice_pool_create, sim(0), &options, &pool);
  CHECK(pool == nullptr);
  auto figures = sized<PoolStats>();
  must_fail(EINVAL, arrowdevice_pool_get_stats, nullptr, &figures);
  must_fail(EINVAL, arrowdevice_pool_get_stats, default_pool(sim(0)), nullptr);
  must_fail(EINVAL, arrowdevice_pool_trim, nullptr);
  must_fail(EINVAL, arrowdevice_device_set_pool, nullptr, nullptr);
  must_fail_saying(EINVAL, "ext_dev:1", arrowdevice_device_set_pool, sim(0), default_pool(sim(1)));
  must_fail(EINVAL, arrowdevice_device_get_pool, nullptr, &pool);
  must_fail(EINVAL, arrowdevice_device_get_pool, sim(0), nullptr);
}

// C++ programs may register functions that throw, because C cannot forbid it.
TEST_CASE("an exception of an application's allocator becomes an error with its text") {
  begin();
  const auto allocate_from = [](auto* allocate) {
    auto options = pool_options();
    options.allocate = allocate;
    options.deallocate = [](void*, void*, int64_t, void*) { enter_callback("deallocate of a pool"); };
    const Pool pool = make_pool(sim(0), &options);
    void* buffer = nullptr;
    const std::string said = must_fail(EIO, arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 1, &buffer);
    CHECK(buffer == nullptr);
    return said;
  };
  using Allocate = decltype(arrowdevice_pool_options::allocate);
  const Allocate throws_text = [](void*, int64_t, int64_t, void*, void**) -> int {
    enter_callback("allocate of a pool");
    throw std::runtime_error("the arena is closed");
  };
  const Allocate throws_number = [](void*, int64_t, int64_t, void*, void**) -> int {
    enter_callback("allocate of a pool");
    throw 7;
  };
  CHECK(contains(allocate_from(throws_text), "the arena is closed"));
  CHECK(contains(allocate_from(throws_number), "unknown type"));
}

TEST_CASE("invalid buffers are refused") {
  begin();
  void* buffer = &buffer;
  for (const int64_t size : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    must_fail_saying(EINVAL, std::to_string(size), arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, size,
                     &buffer);
    CHECK(buffer == nullptr);
  }
  for (const int64_t size : {int64_t{8} << 30, std::numeric_limits<int64_t>::max()}) {
    INFO(size);
    const int code = arrowdevice_buffer_allocate(sim(0), nullptr, nullptr, size, &buffer, nullptr);
    CHECK((code == ENOMEM || code == EINVAL));
  }
  must_fail(EINVAL, arrowdevice_buffer_allocate, nullptr, nullptr, nullptr, 1, &buffer);
  must_fail(EINVAL, arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 1, nullptr);
  must_fail(EINVAL, arrowdevice_buffer_allocate, sim(0), default_pool(sim(1)), nullptr, 1, &buffer);
  const Queue elsewhere = make_queue(sim(1));
  must_fail_saying(EINVAL, "the queue is of ext_dev:1, not of ext_dev:0", arrowdevice_buffer_allocate, sim(0), nullptr,
                   elsewhere.get(), 1, &buffer);
  CHECK(control::counters(0).allocations_live == 0);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
}

TEST_CASE("buffer_free behind a queue reuses memory only after the queue's work") {
  begin();
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    const Queue queue = make_queue(sim(id));
    auto* first = output_of(arrowdevice_buffer_allocate, sim(id), nullptr, queue.get(), 4'000);
    const auto bytes = sample_bytes(4'000);
    const auto in = to_device(sim(id), first, bytes.data(), 4'000);
    Held engine(id);
    must(arrowdevice_queue_copy, queue.get(), &in, 1);
    arrowdevice_buffer_free(sim(id), queue.get(), first);
    CHECK(stats(default_pool(sim(id))).cached_bytes == 0);
    const Allocation second(sim(id), 4'000);
    CHECK(second.get() != first);
    engine.resume();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(default_pool(sim(id))).cached_bytes >= 4'000);
    const Allocation third(sim(id), 4'000);
    CHECK(third.get() == first);
  }
}

TEST_CASE("freeing an unknown buffer or NULL has no effect") {
  begin();
  arrowdevice_log_set_handler([](void*, int, const char*) { enter_callback("the log handler"); }, nullptr);
  int not_a_buffer = 0;
  arrowdevice_buffer_free(sim(0), nullptr, &not_a_buffer);
  arrowdevice_buffer_free(nullptr, nullptr, &not_a_buffer);
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), nullptr, nullptr, 100);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
  arrowdevice_buffer_free(sim(0), nullptr, buffer);  // frees the buffer a second time
  arrowdevice_log_set_handler(nullptr, nullptr);
  arrowdevice_buffer_free(sim(0), nullptr, nullptr);
  arrowdevice_buffer_free(nullptr, nullptr, nullptr);
  CHECK(stats(default_pool(sim(0))).used_bytes == 0);
  CHECK(control::refused() == 0);
}

TEST_CASE("a sub-buffer holds the bytes at its offset until it is destroyed") {
  begin();
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    const Allocation buffer(sim(id), 1'024);
    const auto bytes = sample_bytes(1'024);
    control::poke(id, buffer.get(), 0, bytes.data(), 1'024);
    auto* part = output_of(arrowdevice_sub_buffer_create, sim(id), buffer.get(), 256, 100);
    CHECK(control::counters(id).sub_buffers_live == (id == kHandles[0] ? 1 : 0));
    std::vector<unsigned char> got(100);
    const Queue queue = make_queue(sim(id));
    const auto out = to_host(got.data(), sim(id), part, 100);
    must(arrowdevice_queue_copy, queue.get(), &out, 1);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK(std::memcmp(got.data(), bytes.data() + 256, 100) == 0);
    arrowdevice_sub_buffer_destroy(sim(id), part);
    CHECK(control::counters(id).sub_buffers_live == 0);
  }
  arrowdevice_sub_buffer_destroy(nullptr, nullptr);
  arrowdevice_sub_buffer_destroy(sim(kHandles[0]), nullptr);
}

TEST_CASE("invalid sub-buffers are refused") {
  begin();
  const int64_t id = kHandles[0];
  const Allocation buffer(sim(id), 1'024);
  void* part = &part;
  must_fail(EINVAL, arrowdevice_sub_buffer_create, sim(id), nullptr, 0, 1, &part);
  CHECK(part == nullptr);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, sim(id), buffer.get(), -128, 1, &part);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, sim(id), buffer.get(), 0, 0, &part);
  must_fail_saying(EINVAL, "multiple of 128", arrowdevice_sub_buffer_create, sim(id), buffer.get(), 4, 1, &part);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, sim(id), buffer.get(), 1 << 20, 1, &part);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, nullptr, buffer.get(), 0, 1, &part);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, sim(id), buffer.get(), 0, 1, nullptr);
}

TEST_CASE("regions between two devices are copied from and to their offsets") {
  begin();
  const Allocation near(sim(0), 256), far(sim(kHandles[0]), 256);
  const auto bytes = sample_bytes(256);
  std::vector<unsigned char> back(256);
  const Queue queue = make_queue(sim(kHandles[0]));
  control::poke(0, near.get(), 0, bytes.data(), 256);
  arrowdevice_copy_region region{};
  region.dst_device = sim(kHandles[0]);
  region.dst = far.get();
  region.dst_offset = 100;
  region.src_device = sim(0);
  region.src = near.get();
  region.src_offset = 10;
  region.size = 50;
  must(arrowdevice_queue_copy, queue.get(), &region, 1);
  arrowdevice_copy_region out = to_host(back.data(), sim(kHandles[0]), far.get(), 50);
  out.src_offset = 100;
  out.dst_offset = 7;
  must(arrowdevice_queue_copy, queue.get(), &out, 1);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK(std::memcmp(back.data() + 7, bytes.data() + 10, 50) == 0);
  CHECK(back[6] == 0);
  CHECK(back[57] == 0);
  must(arrowdevice_queue_copy, queue.get(), nullptr, 0);
  region.size = 0;
  region.src = nullptr;
  const int64_t copies = control::counters(kHandles[0]).copies;
  must(arrowdevice_queue_copy, queue.get(), &region, 1);  // an empty region succeeds and is not copied
  CHECK(control::counters(kHandles[0]).copies == copies);
}

TEST_CASE("large copies on the CPU, by several threads, copy every byte") {
  begin();
  constexpr size_t kBytes = size_t{131} << 20;
  // The second region is copied in many pieces. No region begins or ends at a round address.
  constexpr size_t kBegins[] = {0, 1'000'001, kBytes - 3, kBytes};
  std::vector<unsigned char> from(kBytes);
  for (size_t i = 0; i < kBytes; ++i) from[i] = static_cast<unsigned char>(i * 2'654'435'761u >> 24);
  const Queue queue = make_queue(cpu());
  // The library reads the variable on the first large copy, and no other case copies as much.
  const arrowdevice::testing::Variable threads("ARROWDEVICE_COPY_THREADS", "5");
  std::vector<unsigned char> to(kBytes);
  std::vector<arrowdevice_copy_region> regions;
  for (size_t i = 0; i + 1 < std::size(kBegins); ++i) {
    regions.push_back(to_host(to.data() + kBegins[i], cpu(), from.data() + kBegins[i],
                              static_cast<int64_t>(kBegins[i + 1] - kBegins[i])));
  }
  must(arrowdevice_queue_copy, queue.get(), regions.data(), static_cast<int64_t>(regions.size()));
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK((to == from));
}

TEST_CASE("host memory may be named as the CPU") {
  begin();
  const Allocation buffer(sim(0), 64);
  const auto bytes = sample_bytes(64);
  auto in = to_device(sim(0), buffer.get(), bytes.data(), 64);
  in.src_device = cpu();
  const Queue queue = make_queue(sim(0));
  must(arrowdevice_queue_copy, queue.get(), &in, 1);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  std::vector<unsigned char> got(64);
  control::peek(0, buffer.get(), 0, got.data(), 64);
  CHECK(got == bytes);
}

TEST_CASE("invalid regions are refused with their number") {
  begin();
  const Allocation buffer(sim(0), 64);
  const Queue queue = make_queue(sim(0));
  const Queue on_cpu = make_queue(cpu());
  unsigned char host[64] = {};
  const auto good = to_device(sim(0), buffer.get(), host, 64);
  const auto refusal = [&](auto spoil, arrowdevice_queue* on) {
    arrowdevice_copy_region regions[] = {good, good};
    spoil(regions[1]);
    return must_fail(EINVAL, arrowdevice_queue_copy, on, regions, 2);
  };
  CHECK(contains(refusal([](auto& r) { r.size = -1; }, queue.get()), "region 1"));
  CHECK(contains(refusal([](auto& r) { r.dst_offset = -1; }, queue.get()), "region 1"));
  CHECK(contains(refusal([](auto& r) { r.src_offset = -1; }, queue.get()), "region 1"));
  CHECK(contains(refusal([](auto& r) { r.src = nullptr; }, queue.get()), "region 1"));
  CHECK(contains(refusal([](auto& r) { r.dst = nullptr; }, queue.get()), "region 1"));
  refusal([](auto& r) { r.dst_offset = 1 << 20; }, queue.get());  // beyond the buffer: the driver detects it
  refusal([](auto& r) { r.size = std::numeric_limits<int64_t>::max(); }, queue.get());
  must_fail_saying(EINVAL, "region 0", arrowdevice_queue_copy, on_cpu.get(), &good, 1);
  must_fail(EINVAL, arrowdevice_queue_copy, nullptr, &good, 1);
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), nullptr, 1);
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &good, -1);
}

}  // namespace
