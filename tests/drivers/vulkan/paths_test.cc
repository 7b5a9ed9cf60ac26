// SPDX-License-Identifier: Apache-2.0
// Tests which path bytes take between host memory and the device, as the driver sees it. Each path must
// keep a queue's order.
#include <arrowdevice/backend.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "drivers/vulkan/driver_control.h"
#include "support/calls.h"
#include "support/catch.h"
#include "support/handles.h"

namespace {

using arrowdevice::testing::must;
using arrowdevice::testing::output_of;
using arrowdevice::testing::Queue;
using arrowdevice::testing::sized;
using vulkan_test::driver;
using Bytes = std::vector<unsigned char>;

constexpr int32_t kNotReady = 1;
constexpr int64_t kSmall = 4 << 10;
constexpr int64_t kLarge = 5 << 20;

bool is_without(const char* what) {
  const char* const words = std::getenv("ARROWDEVICE_VULKAN_WITHOUT");
  return words != nullptr && std::strstr(words, what) != nullptr;
}

// Returns true if there are several queues. Lavapipe has a single queue. Disguised as a discrete GPU it has
// a queue for each of two families.
bool has_several_queues() {
  const char* const disguise = std::getenv("ARROWDEVICE_TEST_VULKAN_DISGUISE");
  return disguise != nullptr && std::strcmp(disguise, "discrete") == 0;
}

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

Bytes pattern(int64_t size, int seed) {
  Bytes bytes(static_cast<size_t>(size));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>((i * 31 + i / 251) % 255 + static_cast<size_t>(seed));
  return bytes;
}

// Counts the calls of a function while `body` runs.
template <typename Body>
int64_t calls(const char* function, Body&& body) {
  const int64_t before = driver().calls(function);
  body();
  return driver().calls(function) - before;
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
  const char* const force = std::getenv("ARROWDEVICE_VULKAN_FORCE");
  const bool noncoherent = force != nullptr && std::strstr(force, "noncoherent") != nullptr;
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

// Returns the backend's table, for calls that the library itself does not make like this.
const arrowdevice_backend& backend_table() {
  const char* const plugin = std::getenv("VULKAN_PLUGIN");
  REQUIRE(plugin != nullptr);
  void* const opened = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(opened != nullptr);
  arrowdevice_error error{};
  const auto entry = reinterpret_cast<arrowdevice_backend_entry_function>(dlsym(opened, ARROWDEVICE_BACKEND_ENTRY));
  return *entry(ARROWDEVICE_BACKEND_ABI_VERSION, &error);
}

// A queue of an application, with an event behind a copy of `kLarge` bytes to it.
class WrappedQueue {
 public:
  WrappedQueue() : sent_(pattern(kLarge, 13)) {
    arrowdevice_error error{};
    arrowdevice_native_queue native{};
    native.struct_size = sizeof native;  // NULL: the device's first queue
    REQUIRE(table_.device_open(ARROW_DEVICE_VULKAN, 0, &device_, &error) == 0);
    REQUIRE(table_.queue_wrap(device_, &native, &queue_, &error) == 0);
    REQUIRE(table_.buffer_allocate(device_, nullptr, kLarge, 64, &buffer_, &error) == 0);
    const arrowdevice_backend_region region{device_, buffer_, 0, nullptr, sent_.data(), 0, kLarge, 0};
    REQUIRE(table_.queue_copy(queue_, &region, 1, &error) == 0);
    REQUIRE(table_.event_record(queue_, &event_, &error) == 0);
  }
  ~WrappedQueue() {
    if (queue_ != nullptr) table_.queue_destroy(queue_);
    table_.event_destroy(event_);
    table_.buffer_free(device_, nullptr, buffer_);
  }
  WrappedQueue(const WrappedQueue&) = delete;
  WrappedQueue& operator=(const WrappedQueue&) = delete;

  // Destroys the wrapped queue right before the library calls that function.
  void take_back_before(const char* function) {
    driver().before_next(
        function,
        [](void* user) {
          auto* const self = static_cast<WrappedQueue*>(user);
          self->table_.queue_destroy(std::exchange(self->queue_, nullptr));
        },
        this);
  }

  const arrowdevice_backend& table() const { return table_; }
  void* device() const { return device_; }
  void* buffer() const { return buffer_; }
  void* event() const { return event_; }
  bool is_taken_back() const { return queue_ == nullptr; }
  const Bytes& sent() const { return sent_; }

 private:
  const arrowdevice_backend& table_ = backend_table();
  const Bytes sent_;
  void* device_ = nullptr;
  void* queue_ = nullptr;
  void* buffer_ = nullptr;
  void* event_ = nullptr;
};

TEST_CASE("an event is published although the application takes its queue back meanwhile") {
  WrappedQueue wrapped;
  wrapped.take_back_before("vkCmdSetEvent");
  void* published = nullptr;
  arrowdevice_error error{};
  int64_t submissions = 0;
  // The commands for the application's queue are freed, and recorded again for a queue of the library.
  const int64_t frees = calls("vkFreeCommandBuffers", [&] {
    submissions = calls("vkQueueSubmit", [&] {
      const int code = wrapped.table().event_publish(wrapped.event(), &published, &error);
      INFO(error.message);
      REQUIRE(code == 0);
    });
  });
  CHECK(wrapped.is_taken_back());
  CHECK(frees == 1);
  CHECK(submissions == 1);
  // The event is work of that queue again while a holder of the imported event exists.
  void* imported = nullptr;
  REQUIRE(wrapped.table().event_import(wrapped.device(), published, &imported, &error) == 0);
  CHECK(wrapped.table().event_wait(imported, ARROWDEVICE_NO_TIMEOUT, &error) == 0);
  wrapped.table().event_destroy(imported);
}

TEST_CASE("a queue waits for work although the application takes its queue back meanwhile") {
  WrappedQueue wrapped;
  arrowdevice_error error{};
  void* queue = nullptr;
  REQUIRE(wrapped.table().queue_create(wrapped.device(), &queue, &error) == 0);
  // With a timeline, or on the same VkQueue, no submission to the other queue is needed.
  const bool submits = is_without("timeline_semaphores") && has_several_queues();
  if (submits) {
    driver().fail("vkGetFenceStatus", 1, kNotReady);  // because it may have finished already
    wrapped.take_back_before("vkBeginCommandBuffer");
  }
  const int64_t submissions = calls("vkQueueSubmit", [&] {
    const int code = wrapped.table().queue_wait_event(queue, wrapped.event(), &error);
    INFO(error.message);
    REQUIRE(code == 0);
  });
  CHECK(submissions == 0);
  CHECK(wrapped.is_taken_back() == submits);
  Bytes received(wrapped.sent().size());
  const arrowdevice_backend_region region{nullptr, received.data(), 0, wrapped.device(), wrapped.buffer(),
                                          0,       kLarge,          0};
  REQUIRE(wrapped.table().queue_copy(queue, &region, 1, &error) == 0);
  void* end = nullptr;
  REQUIRE(wrapped.table().event_record(queue, &end, &error) == 0);
  REQUIRE(wrapped.table().event_wait(end, ARROWDEVICE_NO_TIMEOUT, &error) == 0);
  CHECK((received == wrapped.sent()));
  wrapped.table().event_destroy(end);
  wrapped.table().queue_destroy(queue);
}

// The application's kernels may follow at any time, and are part of the queue's work.
TEST_CASE("an event covers the work of an application that knows the native queue") {
  const arrowdevice_backend& table = backend_table();
  arrowdevice_error error{};
  void* own = nullptr;
  void* queue = nullptr;
  REQUIRE(table.device_open(ARROW_DEVICE_VULKAN, 0, &own, &error) == 0);
  REQUIRE(table.queue_create(own, &queue, &error) == 0);
  const auto submissions_of_record = [&] {
    void* event = nullptr;
    const int64_t submissions =
        calls("vkQueueSubmit", [&] { REQUIRE(table.event_record(queue, &event, &error) == 0); });
    CHECK(table.event_wait(event, ARROWDEVICE_NO_TIMEOUT, &error) == 0);
    table.event_destroy(event);
    return submissions;
  };
  CHECK(submissions_of_record() == 0);
  auto native = sized<arrowdevice_native_queue>();
  REQUIRE(table.queue_get_native(queue, &native, &error) == 0);
  CHECK(submissions_of_record() == 1);
  CHECK(submissions_of_record() == 1);
  table.queue_destroy(queue);
}

TEST_CASE("a queue waits at once if the application knows the native queue") {
  WrappedQueue wrapped;
  arrowdevice_error error{};
  void* queue = nullptr;
  REQUIRE(wrapped.table().queue_create(wrapped.device(), &queue, &error) == 0);
  auto native = sized<arrowdevice_native_queue>();
  REQUIRE(wrapped.table().queue_get_native(queue, &native, &error) == 0);
  if (has_several_queues()) driver().fail("vkGetFenceStatus", 1, kNotReady);  // because it may have finished already
  const int64_t submissions = calls("vkQueueSubmit", [&] {
    const int code = wrapped.table().queue_wait_event(queue, wrapped.event(), &error);
    INFO(error.message);
    REQUIRE(code == 0);
  });
  // One signals a binary semaphore, the other waits for it. One VkQueue needs neither.
  CHECK(submissions == (has_several_queues() ? 2 : 0));
  CHECK(wrapped.table().event_wait(wrapped.event(), ARROWDEVICE_NO_TIMEOUT, &error) == 0);
  wrapped.table().queue_destroy(queue);
}

TEST_CASE("each VkQueue has its own lock for applications") {
  const arrowdevice_backend& table = backend_table();
  arrowdevice_error error{};
  void* own = nullptr;
  void* queue = nullptr;
  REQUIRE(table.device_open(ARROW_DEVICE_VULKAN, 0, &own, &error) == 0);
  REQUIRE(table.queue_create(own, &queue, &error) == 0);
  auto native_queue = sized<arrowdevice_native_queue>();
  auto native = sized<arrowdevice_native_device>();
  REQUIRE(table.queue_get_native(queue, &native_queue, &error) == 0);
  REQUIRE(table.device_get_native(own, &native, &error) == 0);
  CHECK((native_queue.queue != native.queue) == has_several_queues());
  native.lock(native.lock_user, native_queue.queue);
  std::promise<void> locked;
  std::thread other([&] {
    native.lock(native.lock_user, native.queue);
    locked.set_value();
    native.unlock(native.lock_user, native.queue);
  });
  const auto waited = locked.get_future().wait_for(std::chrono::seconds(has_several_queues() ? 20 : 0));
  CHECK((waited == std::future_status::ready) == has_several_queues());
  native.unlock(native.lock_user, native_queue.queue);
  other.join();
  table.queue_destroy(queue);
}

// The library itself refuses such sizes, so this test calls the backend.
TEST_CASE("the backend refuses a sub-buffer without bytes or before its buffer") {
  const arrowdevice_backend& table = backend_table();
  arrowdevice_error error{};
  void* own = nullptr;
  void* buffer = nullptr;
  REQUIRE(table.device_open(ARROW_DEVICE_VULKAN, 0, &own, &error) == 0);
  REQUIRE(table.buffer_allocate(own, nullptr, kSmall, 64, &buffer, &error) == 0);
  for (const auto& [offset, size] : {std::pair<int64_t, int64_t>{0, 0}, {-4096, 64}}) {
    void* part = nullptr;
    CHECK(table.sub_buffer_create(own, buffer, offset, size, &part, &error) == EINVAL);
    CHECK(std::string(error.message) == "a sub-buffer with a negative offset or without bytes");
    CHECK(part == nullptr);
  }
  table.buffer_free(own, nullptr, buffer);
}

// The library itself frees memory behind an event, so this test calls the backend.
TEST_CASE("memory freed behind a queue is freed after the queue's work") {
  const arrowdevice_backend& table = backend_table();
  arrowdevice_error error{};
  void* own = nullptr;
  void* queue = nullptr;
  void* first = nullptr;
  void* second = nullptr;
  void* event = nullptr;
  REQUIRE(table.device_open(ARROW_DEVICE_VULKAN, 0, &own, &error) == 0);
  REQUIRE(table.queue_create(own, &queue, &error) == 0);
  REQUIRE(table.buffer_allocate(own, queue, kLarge, 64, &first, &error) == 0);
  REQUIRE(table.buffer_allocate(own, queue, kLarge, 64, &second, &error) == 0);
  const Bytes sent = pattern(kLarge, 11);
  Bytes received(sent.size());
  const arrowdevice_backend_region regions[] = {{own, first, 0, nullptr, sent.data(), 0, kLarge, 0},
                                                {own, second, 0, own, first, 0, kLarge, 0},
                                                {nullptr, received.data(), 0, own, second, 0, kLarge, 0}};
  for (const auto& region : regions) REQUIRE(table.queue_copy(queue, &region, 1, &error) == 0);
  const int64_t frees = calls("vkDestroyBuffer", [&] {
    table.buffer_free(own, queue, first);
    REQUIRE(table.event_record(queue, &event, &error) == 0);
    REQUIRE(table.event_wait(event, ARROWDEVICE_NO_TIMEOUT, &error) == 0);
  });
  CHECK(frees >= 1);
  CHECK((received == sent));
  table.event_destroy(event);
  table.queue_destroy(queue);
  table.buffer_free(own, nullptr, second);
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
