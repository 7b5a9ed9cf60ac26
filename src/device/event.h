// SPDX-License-Identifier: Apache-2.0
// Events: points in a queue's work. The library records its own, and imports those of foreign arrays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/device.h"

namespace arrowdevice::device {

class Queue;

// Events of the same order fire one after the other, as they were recorded. A default order is no order.
struct EventOrder {
  uint64_t queue = 0;
  uint64_t thread = 0;  // of an application's queue, which may be another one on each thread

  explicit operator bool() const noexcept { return queue != 0; }
  friend bool operator==(const EventOrder&, const EventOrder&) = default;
};

// An event of a backend. All functions may be called from any thread.
class Event {
 public:
  // Takes ownership of the backend's handle.
  Event(Device& device, void* handle, EventOrder order = {}) noexcept
      : device_(device), handle_(handle), order_(order), use_(device) {}
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Device& device() const noexcept { return device_; }
  void* handle() const noexcept { return handle_; }
  const EventOrder& order() const noexcept { return order_; }

  // Returns true if the event has fired. Throws if the work before it failed.
  bool is_ready() const;

  // Blocks until the event has fired. Returns false after `timeout_ns`. Throws if the work before it failed, and
  // ECANCELED if the thread's check ends the wait.
  bool wait(int64_t timeout_ns) const;

  // Does the same as wait(), but does not count as a host wait, because it delays no caller. Nothing interrupts it.
  bool wait_idly(int64_t timeout_ns) const;

  // Returns true if the work before the event no longer uses its memory, because it has finished or failed. Returns
  // false if the driver cannot tell, or cannot be called any more.
  bool has_ended() const noexcept;

  // Waits until has_ended() is true or the time-out ends. Pauses if the driver cannot tell.
  void wait_for_end(int64_t timeout_ns) const noexcept;

  // Returns the event in the format's form, which is valid as long as this object.
  void* publish() const;

 private:
  Device& device_;
  void* const handle_;
  const EventOrder order_;
  const DeviceUse use_;
  mutable std::atomic<bool> fired_{false};
  mutable std::atomic<void*> published_{nullptr};  // set on a device that waits_on_host()
};

// The event of a foreign array. Borrows the event, so the array must outlive this object.
class ForeignEvent {
 public:
  // Imports the event. NULL means that there is no event. Throws EINVAL for an event on a device type without events,
  // and ENOTSUP if the backend cannot import it.
  ForeignEvent(Device& source, void* sync_event);

  // Throws EINVAL for an event on a device type without events.
  static void check(const Device& source, const void* sync_event);
  static void check(ArrowDeviceType source, const void* sync_event);

  bool is_ready() const { return event_ == nullptr || event_->is_ready(); }

  // Waits for the event. Throws ETIMEDOUT after `timeout_ns`.
  void wait(int64_t timeout_ns) const;

  // Makes later work on `queue` run after the event. If the queue's device cannot wait for such an event, the calling
  // thread waits.
  void wait_on(Queue& queue, int64_t timeout_ns) const;

  std::shared_ptr<Event> take() noexcept { return std::move(event_); }

 private:
  bool is_our_own_ = false;  // true if the library published the event
  std::shared_ptr<Event> event_;
};

}  // namespace arrowdevice::device
