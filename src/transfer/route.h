// SPDX-License-Identifier: Apache-2.0
// The route of a copy from one device to another: the CPU, one queue, or two queues with staging memory between them.
#pragma once

#include "base/deadline.h"
#include "device/device.h"
#include "device/event.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::transfer {

// Throws EINVAL if the application's queue cannot be used for a copy from `source` to `target`.
void check_queue(const device::Queue& chosen, const device::Device& source, const device::Device& target);

// Does the same for future copies. Only the type of the source is known, or 0 if not even the type is.
void check_queue(const device::Queue& chosen, ArrowDeviceType source, const device::Device& target);

// Throws EINVAL for a pool of another device.
void check_pool(const device::Pool& pool, const device::Device& target);

class Route {
 public:
  // Creates a route. `chosen` is the application's queue or NULL. Throws EINVAL as check_queue() does.
  Route(device::Device& source, device::Device& target, device::Queue* chosen);

  device::Device& source() const noexcept { return source_; }
  device::Device& target() const noexcept { return target_; }

  // Returns true if the CPU reads the source, or writes the target, in place.
  bool source_on_host() const noexcept { return source_on_host_; }
  bool target_on_host() const noexcept { return target_on_host_; }
  bool is_staged() const noexcept { return is_staged_; }

  // Returns true if copies between the devices use staging memory, because there is no direct path.
  static bool is_staged(const device::Device& source, const device::Device& target);

  // Returns the queue that reads the source, or writes the target. It is the same queue unless the route is staged.
  device::Queue& source_queue() const noexcept { return *source_queue_; }
  device::Queue& target_queue() const noexcept { return *target_queue_; }

  // Returns the device handle for a region. NULL means host memory.
  void* source_handle() const noexcept { return source_on_host_ ? nullptr : source_.handle(); }
  void* target_handle() const noexcept { return target_on_host_ ? nullptr : target_.handle(); }

  // Returns true if the copy uses host memory that the driver does not know, and the driver may wait for the queue's
  // work when it copies such memory.
  bool blocks_on_pageable() const noexcept { return blocks_on_pageable_; }

  // Makes the CPU copy the source's host memory to staging memory first, so that the submission cannot block.
  void stage_host_memory(bool stages) noexcept { stages_host_memory_ = stages; }
  bool stages_host_memory() const noexcept { return stages_host_memory_; }

  // Makes all later work run after the producer's event.
  void wait_for(const device::ForeignEvent& event, const Deadline& deadline);

  // Drains the route after a failure: waits until no submitted work runs any more. Returns false if the state is
  // unknown.
  bool drain() noexcept;

  // Drops the library's own queues after a failure. They are never reused, because they may wait for an event that
  // never fires.
  void abandon() noexcept;

 private:
  bool uses_blocking_memory() const;

  device::Device& source_;
  device::Device& target_;
  const device::DeviceUse uses_[2];
  const bool source_on_host_;
  const bool target_on_host_;
  bool is_staged_ = false;
  bool blocks_on_pageable_ = false;
  bool stages_host_memory_ = false;
  device::QueueLease leases_[2];
  device::Queue* source_queue_ = nullptr;
  device::Queue* target_queue_ = nullptr;
  device::Queue* comes_after_ = nullptr;  // before a copy by the CPU, this queue must be idle
};

}  // namespace arrowdevice::transfer
