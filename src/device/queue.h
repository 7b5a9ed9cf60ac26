// SPDX-License-Identifier: Apache-2.0
// A queue: an in-order lane of work on a device.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "base/error.h"
#include "device/device.h"
#include "device/event.h"

namespace arrowdevice::device {

// Calls on one queue are serialised here, as the backend table promises; any thread may make them.
class Queue {
 public:
  static std::shared_ptr<Queue> create(Device& device);
  static std::shared_ptr<Queue> wrap(Device& device, const arrowdevice_native_queue& native);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const noexcept { return device_; }

  // Only under lock(). NULL, which is any queue, where the application has taken its queue back.
  void* handle() const noexcept { return handle_; }

  arrowdevice_native_queue native();

  // The vendor's handle for a function of the application's, which may use it as long as this lives: until then a
  // wrapped queue is not given back. A count and no lock, because the function may take locks of its own.
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

  // The application takes its own queue back, which is never touched again once this returns: it waits for the native
  // uses. What others queue here
  // later goes to a queue of the library, behind what was queued so far. Does nothing for the library's own.
  void give_native_back() noexcept;

  // Whether it is the application's own, until that is given back. It may mean another one on another thread, as a
  // vendor's default stream of the calling thread does.
  bool is_wrapped() const noexcept;

  // Enqueues a batch; none at all is no submission. Counts the bytes to and from the queue's own device: those of
  // another device at the other end are for the caller to count.
  void copy(std::span<const arrowdevice_backend_region> regions);

  // An event that fires after the work so far.
  std::shared_ptr<Event> record();

  // Work queued later runs after the event, which is of this queue's backend.
  void wait_for(const Event& event);

  // Waits until the work so far is done; false after `timeout_ns`. Once it is done, a poll says so.
  bool finish(int64_t timeout_ns);

  // What became of the work up to the last event. After a failure, work that is queued later may fail for that reason
  // alone.
  enum class State { kIdle, kBusy, kFailed };
  State state() const noexcept;

  // Whether something was queued behind the last event: nobody can tell when that ends, or how.
  bool has_unseen_work() const noexcept;

  // Whether its work may have to wait for somebody else's, which may fail, or never end.
  bool may_wait_for_others() const noexcept;

  // It is idle: what was waited for is over.
  void forget_waits() noexcept;

  // After a failure: waits until nothing that was enqueued is running any more, whatever came of it. False if that
  // cannot be told: what the work uses must never be used again then.
  bool drain() noexcept;

  // For driver calls that name the queue beside those of this class.
  std::unique_lock<std::mutex> lock() {
    std::unique_lock lock(mutex_);
    if (handle_ != nullptr) has_new_work_ = true;
    return lock;
  }

 private:
  Queue(Device& device, void* handle, bool is_wrapped) noexcept
      : device_(device), is_wrapped_(is_wrapped), handle_(handle), is_known_outside_(is_wrapped) {}

  static std::shared_ptr<Queue> take_over(Device& device, void* handle, bool is_wrapped);

  arrowdevice_native_queue begin_native_use();
  void end_native_use() noexcept;
  arrowdevice_native_queue native_here();
  void* usable_handle();
  std::shared_ptr<Event> record_here();
  std::shared_ptr<Event> last() const noexcept;
  bool drain_without_memory() noexcept;
  std::optional<bool> drain_lost() noexcept;

  // The event behind all work so far, if it is recorded already.
  std::shared_ptr<Event> end() const noexcept;

  Device& device_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable unused_;
  int native_uses_ = 0;
  bool is_wrapped_;
  void* handle_;  // NULL: given back, and not needed since
  Failure lost_;  // set: what was queued before it was given back cannot be waited for
  std::shared_ptr<Event> last_;
  bool has_new_work_ = false;  // since `last_` was recorded, or at all
  bool may_wait_for_others_ = false;
  bool is_known_outside_;  // where work may be queued that is not seen here
};

}  // namespace arrowdevice::device
