// SPDX-License-Identifier: Apache-2.0
// Tests which path bytes take between host memory and the device, as the driver sees it. Each path must
// keep a queue's order.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "drivers/vulkan/driver_control.h"
#include "support/calls.h"
#include "support/catch.h"
#include "support/handles.h"

namespace {

using arrowdevice::testing::must;
using arrowdevice::testing::output_of;
using arrowdevice::testing::Queue;
using vulkan_test::Bytes;
using vulkan_test::calls;
using vulkan_test::driver;
using vulkan_test::is_without;
using vulkan_test::pattern;
using vulkan_test::variable_has;

constexpr int64_t kSmall = 4 << 10;
constexpr int64_t kLarge = 5 << 20;

arrowdevice_device* device() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_VULKAN, 0); }

Queue make_queue() {
  auto* made = output_of(arrowdevice_queue_create, device());
  return Queue(made);
}

class Buffer {
 public:
  explicit Buffer(int64_t size) {
    REQUIRE(arrowdevice_buffer_allocate(device(), nullptr, nullptr, size, &handle_, nullptr) == 0);
  }
  ~Buffer() { arrowdevice_buffer_free(device(), nullptr, handle_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* get() const { return handle_; }

 private:
  void* handle_ = nullptr;
};

void copy(const Queue& queue, const arrowdevice_copy_region& region) {
  must(arrowdevice_queue_copy, queue.get(), &region, 1);
}
void copy_in(const Queue& queue, const Buffer& to, const Bytes& from) {
  copy(queue, {device(), to.get(), 0, nullptr, from.data(), 0, static_cast<int64_t>(from.size()), 0});
}
void copy_out(const Queue& queue, Bytes& to, const Buffer& from) {
  copy(queue, {nullptr, to.data(), 0, device(), from.get(), 0, static_cast<int64_t>(to.size()), 0});
}
void copy_within(const Queue& queue, const Buffer& to, const Buffer& from, int64_t size) {
  copy(queue, {device(), to.get(), 0, device(), from.get(), 0, size, 0});
}
void finish(const Queue& queue) {
  REQUIRE(arrowdevice_queue_finish(queue.get(), ARROWDEVICE_NO_TIMEOUT, nullptr) == 0);
}

TEST_CASE("small writes to mapped memory need no submission if no work is pending") {
  const Queue queue = make_queue();
  const Buffer buffer(kSmall);
  const Bytes sent = pattern(kSmall, 1);
  const int64_t submissions = calls("vkQueueSubmit", [&] { copy_in(queue, buffer, sent); });
  CHECK(submissions == (is_without("direct_mapping") ? 1 : 0));
  Bytes received(sent.size());
  CHECK(calls("vkQueueSubmit", [&] { copy_out(queue, received, buffer); }) == 1);
  finish(queue);
  CHECK((received == sent));
}

TEST_CASE("a region beyond a buffer is refused by number before a submission") {
  const Queue queue = make_queue();
  const Buffer buffer(kSmall);
  const Buffer other(kSmall);
  auto* part = output_of(arrowdevice_sub_buffer_create, device(), buffer.get(), 0, 64);
  Bytes host = pattern(kSmall, 1);
  const arrowdevice_copy_region good{device(), other.get(), 0, nullptr, host.data(), 0, 64, 0};
  const arrowdevice_copy_region beyond[] = {
      {device(), part, 4096, nullptr, host.data(), 0, 64, 0},
      {nullptr, host.data(), 0, device(), part, 4096, 64, 0},
      {device(), other.get(), 0, device(), part, 4096, 64, 0},
      {device(), part, 4096, device(), other.get(), 0, 64, 0},
  };
  for (const auto& bad : beyond) {
    arrowdevice_error error{};
    const arrowdevice_copy_region batch[] = {good, bad};
    CHECK(calls("vkQueueSubmit", [&] { CHECK(arrowdevice_queue_copy(queue.get(), batch, 2, &error) == EINVAL); }) == 0);
    CHECK(std::string(error.message) == "region 1: 64 bytes at offset 4096 are not within a buffer of 64 bytes");
  }
  arrowdevice_sub_buffer_destroy(device(), part);
}

TEST_CASE("bytes are written into mapped memory only after earlier work") {
  const Queue queue = make_queue();
  const Buffer first(kLarge);
  const Buffer second(kLarge);
  for (int round = 0; round < 20; ++round) {
    const Bytes sent = pattern(kLarge, 1);
    const Bytes late = pattern(kSmall, 100 + round);
    Bytes received(sent.size());
    copy_in(queue, first, sent);
    copy_within(queue, second, first, kLarge);
    copy_in(queue, first, late);  // the earlier copy must not see this
    copy_out(queue, received, second);
    finish(queue);
    REQUIRE((received == sent));
  }
}

TEST_CASE("a copy reads host memory after the queue's pending writes to it") {
  const Queue queue = make_queue();
  for (const int64_t size : {kSmall, kLarge}) {
    for (int round = 0; round < 10; ++round) {
      const Buffer first(size);
      const Buffer second(size);
      const Bytes sent = pattern(size, round);
      Bytes between(sent.size());
      Bytes received(sent.size());
      copy_in(queue, first, sent);
      copy_out(queue, between, first);
      copy_in(queue, second, between);
      copy_out(queue, received, second);
      finish(queue);
      REQUIRE((received == sent));
    }
  }
}

TEST_CASE("the device uses large host memory directly, or the backend stages it") {
  const Queue queue = make_queue();
  const Buffer buffer(kLarge);
  const Bytes sent = pattern(kLarge, 3);
  Bytes received(sent.size());
  const auto trip = [&] {
    copy_in(queue, buffer, sent);
    copy_out(queue, received, buffer);
    finish(queue);
  };
  const bool imports = !is_without("external_memory_host");
  CHECK(calls("vkGetMemoryHostPointerPropertiesEXT", trip) == (imports ? 2 : 0));
  CHECK((received == sent));
  // There is a single submission in each direction, or as many as staging memory needs.
  const int64_t submissions = calls("vkQueueSubmit", trip);
  CHECK((imports ? submissions == 2 : submissions >= 2));
}

TEST_CASE("the device uses host memory directly whose last page has no page behind it") {
  constexpr int64_t kSize = 4 << 20;  // several blocks of staging memory
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const host = ::mmap(nullptr, kSize + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(host != MAP_FAILED);
  REQUIRE(::munmap(static_cast<char*>(host) + kSize, page) == 0);
  const Bytes sent = pattern(kSize, 4);
  std::memcpy(host, sent.data(), sent.size());
  {
    const Queue queue = make_queue();
    const Buffer buffer(kSize);
    const int64_t copies = calls("vkCmdCopyBuffer", [&] {
      const arrowdevice_copy_region in{device(), buffer.get(), 0, nullptr, host, 0, kSize, 0};
      must(arrowdevice_queue_copy, queue.get(), &in, 1);
      finish(queue);
    });
    CHECK((is_without("external_memory_host") || copies == 1));
    Bytes received(sent.size());
    copy_out(queue, received, buffer);
    finish(queue);
    CHECK((received == sent));
  }
  REQUIRE(::munmap(host, kSize) == 0);
}

TEST_CASE("a copy of any size uses little staging memory") {
  const Queue queue = make_queue();
  constexpr int64_t kHuge = 100 << 20;
  const Buffer buffer(kHuge);
  const Bytes sent = pattern(kHuge, 5);
  Bytes received(sent.size());
  const int64_t allocations = calls("vkAllocateMemory", [&] {
    copy_in(queue, buffer, sent);
    copy_out(queue, received, buffer);
    finish(queue);
  });
  CHECK((received == sent));
  // There are two imports, or at most 32 blocks of 1 MiB in flight in each direction.
  CHECK(allocations <= (is_without("external_memory_host") ? 64 : 2));
}

TEST_CASE("incoherent memory is flushed for the device and invalidated for the CPU") {
  const bool noncoherent = variable_has("ARROWDEVICE_VULKAN_FORCE", "noncoherent");
  const Queue queue = make_queue();
  const Buffer buffer(kSmall);
  const Bytes sent = pattern(kSmall, 7);
  Bytes received(sent.size());
  const int64_t flushes = calls("vkFlushMappedMemoryRanges", [&] { copy_in(queue, buffer, sent); });
  const int64_t invalidations = calls("vkInvalidateMappedMemoryRanges", [&] {
    copy_out(queue, received, buffer);
    finish(queue);
  });
  CHECK(flushes == (noncoherent ? 1 : 0));
  CHECK(invalidations == (noncoherent ? 1 : 0));
  CHECK((received == sent));
}

TEST_CASE("each block of incoherent staging memory is flushed once before its submission") {
  if (!is_without("external_memory_host") || !is_without("direct_mapping")) return;  // nothing large is staged
  constexpr int64_t kBlock = 1 << 20;
  for (const int64_t blocks : {1, 2, 3, 9}) {  // nine blocks need two submissions
    INFO(blocks << " blocks");
    const Queue queue = make_queue();
    const Buffer buffer(blocks * kBlock);
    const Bytes sent = pattern(blocks * kBlock - 1'000, 8);
    const int64_t flushes = calls("vkFlushMappedMemoryRanges", [&] { copy_in(queue, buffer, sent); });
    CHECK(flushes == blocks);
    Bytes received(sent.size());
    copy_out(queue, received, buffer);
    finish(queue);
    CHECK((received == sent));
  }
}

TEST_CASE("a trim frees unused staging memory") {
  const bool stages = is_without("external_memory_host") && is_without("direct_mapping");
  const Queue queue = make_queue();
  const Buffer buffer(kLarge);
  const auto trip = [&] {
    const Bytes sent = pattern(kLarge, 10);
    Bytes received(sent.size());
    copy_in(queue, buffer, sent);
    copy_out(queue, received, buffer);
    finish(queue);
    CHECK((received == sent));
  };
  auto* pool = output_of(arrowdevice_device_get_pool, device());
  trip();
  must(arrowdevice_pool_trim, pool);
  const int64_t before = driver().live();
  trip();
  CHECK((driver().live() > before) == stages);
  must(arrowdevice_pool_trim, pool);
  CHECK(driver().live() == before);
  trip();  // with new staging memory
}

TEST_CASE("queues wait by timeline semaphores, or by fences without them") {
  const Queue queue = make_queue();
  const Buffer buffer(kLarge);
  const Bytes sent = pattern(kLarge, 9);
  const bool timelines = !is_without("timeline_semaphores");
  const int64_t fences = calls("vkCreateFence", [&] {
    copy_in(queue, buffer, sent);
    finish(queue);
  });
  CHECK((timelines ? fences == 0 : fences >= 1));
}

}  // namespace
