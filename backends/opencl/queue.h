// SPDX-License-Identifier: Apache-2.0
// An in-order queue that the library owns or that it borrows from the application.
#pragma once

#include <arrowdevice/backend.h>

#include <atomic>
#include <memory>
#include <span>

#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/pending.h"

namespace arrowdevice::opencl {

// The library serializes the calls on a queue.
class Queue {
 public:
  explicit Queue(Device& device) : Queue(device, device.make_queue(), kOurs) {}

  // Throws EINVAL if the queue is not in order, or if it belongs to another context or device.
  static std::unique_ptr<Queue> wrap(Device& device, cl_command_queue native);

  // Returns the queue. The application may use it from then on.
  cl_command_queue native() noexcept {
    is_shared_.store(true, std::memory_order_relaxed);
    return native_.get();
  }

  void copy(std::span<const arrowdevice_backend_region> regions);
  std::unique_ptr<Event> record();
  void wait_for(const Event& event);

 private:
  enum Owner { kOurs, kApplications };

  Queue(Device& device, Owned<cl_command_queue> native, Owner owner)
      : device_(device), native_(std::move(native)), is_shared_(owner == kApplications) {}

  void check_not_failed();

  Device& device_;
  const Owned<cl_command_queue> native_;
  std::atomic<bool> is_shared_;  // the application may enqueue commands too
  Pending pending_;
};

}  // namespace arrowdevice::opencl
