// SPDX-License-Identifier: Apache-2.0
// Who carries the bytes from one device to another: the CPU, one queue, or two queues with staging memory between them.
#pragma once

#include "base/deadline.h"
#include "device/device.h"
#include "device/event.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::transfer {

// Throws EINVAL for a queue of the application's that can do nothing for a copy from `source` to `target`.
void check_queue(const device::Queue& chosen, const device::Device& source, const device::Device& target);

// The same of copies that are still to come: as far as the type of the source tells, 0 if not even that is known.
void check_queue(const device::Queue& chosen, ArrowDeviceType source, const device::Device& target);

// Throws EINVAL for a pool of another device.
void check_pool(const device::Pool& pool, const device::Device& target);

class Route {
 public:
  // `chosen` is the application's queue or NULL. Throws EINVAL as check_queue() does.
  Route(device::Device& source, device::Device& target, device::Queue* chosen);

  device::Device& source() const noexcept { return source_; }
  device::Device& target() const noexcept { return target_; }

  // Whether the CPU reads the source, or writes the target, in place.
  bool source_on_host() const noexcept { return source_on_host_; }
  bool target_on_host() const noexcept { return target_on_host_; }
  bool is_staged() const noexcept { return is_staged_; }

  // Whether bytes between them go through staging memory, for want of a direct path.
  static bool is_staged(const device::Device& source, const device::Device& target);

  // Where the source is read and where the target is written: one and the same queue unless the route is staged.
  device::Queue& source_queue() const noexcept { return *source_queue_; }
  device::Queue& target_queue() const noexcept { return *target_queue_; }

  // How a region names either end: NULL is host memory.
  void* source_handle() const noexcept { return source_on_host_ ? nullptr : source_.handle(); }
  void* target_handle() const noexcept { return target_on_host_ ? nullptr : target_.handle(); }

  // Makes everything that follows come after the producer's event.
  void wait_for(const device::ForeignEvent& event, const Deadline& deadline);

  // After a failure: nothing that was submitted runs any more. False if that cannot be told.
  bool drain() noexcept;

  // After a failure: the library's own queues are not used again, since they may wait for what never comes.
  void abandon() noexcept;

 private:
  device::Device& source_;
  device::Device& target_;
  const device::DeviceUse uses_[2];
  const bool source_on_host_;
  const bool target_on_host_;
  bool is_staged_ = false;
  device::QueueLease leases_[2];
  device::Queue* source_queue_ = nullptr;
  device::Queue* target_queue_ = nullptr;
  device::Queue* comes_after_ = nullptr;  // of a copy by the CPU
};

}  // namespace arrowdevice::transfer
