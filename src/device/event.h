// SPDX-License-Identifier: Apache-2.0
// Events: points in a queue's work, the library's own and those that arrays of others carry.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "device/device.h"

namespace arrowdevice::device {

class Queue;

// An event of a backend. All functions may be called from any thread.
class Event {
 public:
  // Takes over the backend's handle.
  Event(Device& device, void* handle) noexcept : device_(device), handle_(handle), use_(device) {}
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Device& device() const noexcept { return device_; }
  void* handle() const noexcept { return handle_; }

  // Whether it has fired. Throws if the work before it failed.
  bool is_ready() const;

  // Blocks until it has fired; false after `timeout_ns`. Throws if the work before it failed.
  bool wait(int64_t timeout_ns) const;

  // As wait(), but not one of the waits that a device's counters tell of: nobody's work is held up.
  bool wait_idly(int64_t timeout_ns) const;

  // Whether the work before it touches nothing any more: it has fired or failed. False where its driver cannot be
  // asked any more.
  bool is_over() const noexcept;

  // The form that the format names, alive as long as this event.
  void* publish() const;

 private:
  Device& device_;
  void* const handle_;
  const DeviceUse use_;
  mutable std::atomic<bool> fired_{false};
  mutable std::atomic<void*> published_{nullptr};  // on a device that waits_on_host()
};

// The event that an array of someone else carries. Borrows it: the array must outlive this.
class ForeignEvent {
 public:
  // NULL: nothing to wait for. Throws EINVAL for an event on a device type that has none, ENOTSUP if the backend cannot
  // take it.
  ForeignEvent(Device& source, void* sync_event);

  // Throws EINVAL for an event on a device type that has none.
  static void check(const Device& source, const void* sync_event);
  static void check(ArrowDeviceType source, const void* sync_event);

  bool is_ready() const { return event_ == nullptr || event_->is_ready(); }

  // Throws ETIMEDOUT after `timeout_ns`.
  void wait(int64_t timeout_ns) const;

  // Work queued later on `queue` runs after it. Where the queue's device cannot wait for such an event, the CPU does.
  void wait_on(Queue& queue, int64_t timeout_ns) const;

  std::shared_ptr<Event> take() noexcept { return std::move(event_); }

 private:
  bool is_our_own_ = false;  // what the library published itself
  std::shared_ptr<Event> event_;
};

}  // namespace arrowdevice::device
