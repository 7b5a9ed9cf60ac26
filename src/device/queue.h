// SPDX-License-Identifier: Apache-2.0
// A queue: work of a device that runs in order.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/condition_variable.h"
#include "base/deadline.h"
#include "base/error.h"
#include "device/device.h"
#include "device/event.h"

namespace arrowdevice::device {

// This class serializes the driver calls on one queue, as the backend table promises. Any thread may use it. No mutex
// is locked during a driver call, because a driver may block in it: the queue's state can be read at any time.
class Queue {
 public:
  static std::shared_ptr<Queue> create(Device& device);
  static std::shared_ptr<Queue> wrap(Device& device, const arrowdevice_native_queue& native);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const noexcept { return device_; }

  // Returns a number that no other queue of the process has ever had. It is more than 0.
  uint64_t id() const noexcept { return id_; }

  // The right to call the driver with the queue's handle. One thread has it at a time.
  class Turn {
   public:
    // Waits until it is this thread's turn.
    explicit Turn(Queue& queue) : Turn(queue, Deadline(ARROWDEVICE_NO_TIMEOUT)) {}
    // Throws ETIMEDOUT if the deadline passes first.
    Turn(Queue& queue, const Deadline& deadline);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // The backend's handle, or NULL, which means any queue, if the application has unwrapped its queue.
    void* handle() const noexcept { return queue_.handle_; }

    // Tells the queue that it gets work.
    void add_work() noexcept {
      if (queue_.handle_ != nullptr) queue_.has_new_work_ = true;
    }

   private:
    Queue& queue_;
  };

  arrowdevice_native_queue native();

  // The vendor's handle for a function of the application, valid as long as this object. A wrapped queue is not
  // unwrapped until then. This is a count and not a lock, because the function may take locks of its own.
  class NativeUse {
   public:
    explicit NativeUse(Queue& queue) : queue_(queue), native_(queue.begin_native_use()) {}
    ~NativeUse() { queue_.end_native_use(); }
    NativeUse(const NativeUse&) = delete;
    NativeUse& operator=(const NativeUse&) = delete;

    void* queue() const noexcept { return native_.queue; }

   private:
    Queue& queue_;
    const arrowdevice_native_queue native_;
  };

  // Unwraps the application's queue. Waits for the native uses first, and never uses the native queue after the return.
  // Later work goes to a queue of the library and runs after the work submitted so far. Does nothing for a queue of the
  // library.
  void give_native_back() noexcept;

  // Returns true if the queue is the application's and is not unwrapped. Such a queue may differ between threads, as a
  // vendor's default stream of the calling thread does.
  bool is_wrapped() const noexcept { return is_wrapped_; }

  // Submits a batch. An empty batch is no submission. Counts the bytes to and from the queue's own device. The caller
  // counts the bytes of the other device.
  void copy(std::span<const arrowdevice_backend_region> regions);

  // Records an event that fires after the work submitted so far.
  std::shared_ptr<Event> record();

  // Makes later work run after the event, which must be of this queue's backend.
  void wait_for(const Event& event);

  // Waits until the work submitted so far has finished. Returns false after `timeout_ns`. If the work has finished, a
  // poll returns true.
  bool finish(int64_t timeout_ns);

  // Does the same, but throws ETIMEDOUT if the deadline passes first.
  void finish_in_time(const Deadline& deadline);

  // Returns true if the queue has work of others, or waits for such work, which may take any time.
  bool has_work_of_others();

  // State of the work up to the last event. After a failure, later work may fail for the same reason.
  enum class State { kIdle, kBusy, kFailed };
  State state() const noexcept;

  // Returns true if work was submitted after the last event. The library cannot tell when such work finishes or if it
  // fails.
  bool has_unseen_work() const noexcept { return has_new_work_; }

  // Returns true if the queue's work may wait for foreign work, which may fail or never finish.
  bool may_wait_for_others() const noexcept { return may_wait_for_others_; }

  // Forgets the waits for foreign work. The caller has seen that the queue is idle.
  void forget_waits() noexcept { may_wait_for_others_ = false; }

  // Drains the queue after a failure: waits until no submitted work is running, with any result. Returns false if the
  // state is unknown. The memory that the work uses must then never be reused.
  bool drain() noexcept;

 private:
  Queue(Device& device, void* handle, bool is_wrapped) noexcept
      : device_(device), handle_(handle), is_wrapped_(is_wrapped), is_known_outside_(is_wrapped) {}

  static std::shared_ptr<Queue> take_over(Device& device, void* handle, bool is_wrapped);

  arrowdevice_native_queue begin_native_use();
  void end_native_use() noexcept;
  arrowdevice_native_queue native_here();
  // The caller of these three has its turn.
  void* usable_handle();
  std::shared_ptr<Event> record_unless_at_end();
  std::shared_ptr<Event> record_here();
  std::shared_ptr<Event> last() const noexcept;
  EventOrder order() const noexcept;
  bool drain_without_memory() noexcept;
  std::optional<bool> drain_lost() noexcept;

  // Returns the event after all work so far, or NULL if it is not recorded.
  std::shared_ptr<Event> end() const noexcept;

  enum : int { kFree, kTaken, kAwaited };

  static inline std::atomic<uint64_t> last_id_{0};

  Device& device_;
  const uint64_t id_ = ++last_id_;
  std::atomic<int> turn_{kFree};  // kAwaited: taken, and a thread may wait for it
  void* handle_;  // only the thread that has its turn uses it; NULL: unwrapped, and not needed again yet
  std::atomic<bool> is_wrapped_;
  std::atomic<bool> has_new_work_{false};  // after `last_` was recorded, or ever
  std::atomic<bool> may_wait_for_others_{false};
  std::atomic<bool> is_known_outside_;  // other code may submit work that the library does not see

  mutable std::mutex mutex_;   // guards all members below
  ConditionVariable changed_;  // when a turn or a native use ends
  int native_uses_ = 0;
  Failure lost_;  // set if the work before the unwrap cannot be waited for
  std::shared_ptr<Event> last_;
};

}  // namespace arrowdevice::device
