// SPDX-License-Identifier: Apache-2.0
// Tests queues that an application and the backend share, and other calls that the library itself does not make: these
// tests call the functions of the backend.
#include <cerrno>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "drivers/vulkan/driver_control.h"
#include "drivers/vulkan/table.h"
#include "support/calls.h"
#include "support/catch.h"

namespace {

using arrowdevice::testing::must;
using arrowdevice::testing::must_fail;
using arrowdevice::testing::output_of;
using arrowdevice::testing::sized;
using vulkan_test::Bytes;
using vulkan_test::calls;
using vulkan_test::device;
using vulkan_test::driver;
using vulkan_test::is_without;
using vulkan_test::pattern;
using vulkan_test::table;

constexpr int32_t kNotReady = 1;
constexpr int64_t kSmall = 4 << 10;
constexpr int64_t kLarge = 5 << 20;

// Returns true if there are several queues. Lavapipe has a single queue. Disguised as a discrete GPU it has a queue for
// each of two families.
bool has_several_queues() { return vulkan_test::variable_has("ARROWDEVICE_TEST_VULKAN_DISGUISE", "discrete"); }

// A queue of the library.
class OwnQueue {
 public:
  OwnQueue() : queue_(output_of(table().queue_create, device())) {}
  ~OwnQueue() { table().queue_destroy(queue_); }
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;

  void* get() const { return queue_; }
  arrowdevice_native_queue native() const { return output_of(table().queue_get_native, queue_); }
  void copy(const arrowdevice_backend_region& region) const { must(table().queue_copy, queue_, &region, int64_t{1}); }
  // Waits for the queue's work by a new event. Returns the submissions that the event took.
  int64_t finish() const {
    void* event = nullptr;
    const int64_t submissions = calls("vkQueueSubmit", [&] { event = output_of(table().event_record, queue_); });
    must(table().event_wait, event, ARROWDEVICE_NO_TIMEOUT);
    table().event_destroy(event);
    return submissions;
  }

 private:
  void* const queue_;
};

// A queue of an application, with an event behind a copy of `kLarge` bytes to it.
class WrappedQueue {
 public:
  WrappedQueue() : sent_(pattern(kLarge, 13)) {
    const auto native = sized<arrowdevice_native_queue>();  // NULL: the device's first queue
    queue_ = output_of(table().queue_wrap, device(), &native);
    buffer_ = output_of(table().buffer_allocate, device(), nullptr, kLarge, 64);
    const arrowdevice_backend_region region{device(), buffer_, 0, nullptr, sent_.data(), 0, kLarge, 0};
    must(table().queue_copy, queue_, &region, int64_t{1});
    event_ = output_of(table().event_record, queue_);
  }
  ~WrappedQueue() {
    if (queue_ != nullptr) table().queue_destroy(queue_);
    table().event_destroy(event_);
    table().buffer_free(device(), nullptr, buffer_);
  }
  WrappedQueue(const WrappedQueue&) = delete;
  WrappedQueue& operator=(const WrappedQueue&) = delete;

  // Destroys the wrapped queue right before the library calls that function.
  void take_back_before(const char* function) {
    driver().before_next(
        function,
        [](void* user) {
          auto* const self = static_cast<WrappedQueue*>(user);
          table().queue_destroy(std::exchange(self->queue_, nullptr));
        },
        this);
  }

  void* buffer() const { return buffer_; }
  void* event() const { return event_; }
  bool is_taken_back() const { return queue_ == nullptr; }
  const Bytes& sent() const { return sent_; }

 private:
  const Bytes sent_;
  void* queue_ = nullptr;
  void* buffer_ = nullptr;
  void* event_ = nullptr;
};

// Makes the queue wait for the event of an application's queue. Returns the submissions that this took.
int64_t submissions_to_wait(const OwnQueue& queue, const WrappedQueue& wrapped) {
  return calls("vkQueueSubmit", [&] { must(table().queue_wait_event, queue.get(), wrapped.event()); });
}

TEST_CASE("an event is published although the application takes its queue back meanwhile") {
  WrappedQueue wrapped;
  wrapped.take_back_before("vkCmdSetEvent");
  void* published = nullptr;
  int64_t submissions = 0;
  // The commands for the application's queue are freed, and recorded again for a queue of the library.
  const int64_t frees = calls("vkFreeCommandBuffers", [&] {
    submissions = calls("vkQueueSubmit", [&] { published = output_of(table().event_publish, wrapped.event()); });
  });
  CHECK(wrapped.is_taken_back());
  CHECK(frees == 1);
  CHECK(submissions == 1);
  // The event is work of that queue again while a holder of the imported event exists.
  void* const imported = output_of(table().event_import, device(), published);
  must(table().event_wait, imported, ARROWDEVICE_NO_TIMEOUT);
  table().event_destroy(imported);
}

TEST_CASE("a queue waits for work although the application takes its queue back meanwhile") {
  WrappedQueue wrapped;
  const OwnQueue queue;
  // With a timeline, or on the same VkQueue, no submission to the other queue is needed.
  const bool submits = is_without("timeline_semaphores") && has_several_queues();
  if (submits) {
    driver().fail("vkGetFenceStatus", 1, kNotReady);  // because it may have finished already
    wrapped.take_back_before("vkBeginCommandBuffer");
  }
  CHECK(submissions_to_wait(queue, wrapped) == 0);
  CHECK(wrapped.is_taken_back() == submits);
  Bytes received(wrapped.sent().size());
  queue.copy({nullptr, received.data(), 0, device(), wrapped.buffer(), 0, kLarge, 0});
  queue.finish();
  CHECK((received == wrapped.sent()));
}

// The application's kernels may follow at any time, and are part of the queue's work.
TEST_CASE("an event covers the work of an application that knows the native queue") {
  const OwnQueue queue;
  CHECK(queue.finish() == 0);
  queue.native();
  CHECK(queue.finish() == 1);
  CHECK(queue.finish() == 1);
}

TEST_CASE("a queue waits at once if the application knows the native queue") {
  const WrappedQueue wrapped;
  const OwnQueue queue;
  queue.native();
  if (has_several_queues()) driver().fail("vkGetFenceStatus", 1, kNotReady);  // because it may have finished already
  // One signals a binary semaphore, the other waits for it. One VkQueue needs neither.
  CHECK(submissions_to_wait(queue, wrapped) == (has_several_queues() ? 2 : 0));
  must(table().event_wait, wrapped.event(), ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("each VkQueue has its own lock for applications") {
  const OwnQueue queue;
  void* const of_queue = queue.native().queue;
  const auto native = output_of(table().device_get_native, device());
  CHECK((of_queue != native.queue) == has_several_queues());
  native.lock(native.lock_user, of_queue);
  std::promise<void> locked;
  std::thread other([&] {
    native.lock(native.lock_user, native.queue);
    locked.set_value();
    native.unlock(native.lock_user, native.queue);
  });
  const auto waited = locked.get_future().wait_for(std::chrono::seconds(has_several_queues() ? 20 : 0));
  CHECK((waited == std::future_status::ready) == has_several_queues());
  native.unlock(native.lock_user, of_queue);
  other.join();
}

// The library itself refuses such sizes.
TEST_CASE("the backend refuses a sub-buffer without bytes or before its buffer") {
  void* const buffer = output_of(table().buffer_allocate, device(), nullptr, kSmall, 64);
  for (const auto& [offset, size] : {std::pair<int64_t, int64_t>{0, 0}, {-4096, 64}}) {
    void* part = nullptr;
    CHECK(must_fail(EINVAL, table().sub_buffer_create, device(), buffer, offset, size, &part) ==
          "a sub-buffer with a negative offset or without bytes");
    CHECK(part == nullptr);
  }
  table().buffer_free(device(), nullptr, buffer);
}

// The library itself frees memory behind an event.
TEST_CASE("memory freed behind a queue is freed after the queue's work") {
  const OwnQueue queue;
  void* const first = output_of(table().buffer_allocate, device(), queue.get(), kLarge, 64);
  void* const second = output_of(table().buffer_allocate, device(), queue.get(), kLarge, 64);
  const Bytes sent = pattern(kLarge, 11);
  Bytes received(sent.size());
  queue.copy({device(), first, 0, nullptr, sent.data(), 0, kLarge, 0});
  queue.copy({device(), second, 0, device(), first, 0, kLarge, 0});
  queue.copy({nullptr, received.data(), 0, device(), second, 0, kLarge, 0});
  const int64_t frees = calls("vkDestroyBuffer", [&] {
    table().buffer_free(device(), queue.get(), first);
    queue.finish();
  });
  CHECK(frees >= 1);
  CHECK((received == sent));
  table().buffer_free(device(), nullptr, second);
}

}  // namespace
