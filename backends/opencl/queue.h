// SPDX-License-Identifier: Apache-2.0
// An in-order queue: one of ours, or an application's.
#pragma once

#include <arrowdevice/backend.h>

#include <atomic>
#include <memory>
#include <span>

#include "opencl/device.h"
#include "opencl/event.h"
#include "opencl/pending.h"

namespace arrowdevice::opencl {

// Calls on one queue are serialised by the library.
class Queue {
 public:
  explicit Queue(Device& device) : Queue(device, device.make_queue(), kOurs) {}

  // Throws EINVAL for a queue that is not in order or of another context or device.
  static std::unique_ptr<Queue> wrap(Device& device, cl_command_queue native);

  // From then on the application may use it too.
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
  std::atomic<bool> is_shared_;  // others enqueue on it too
  Pending pending_;
};

}  // namespace arrowdevice::opencl
