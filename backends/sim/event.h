// SPDX-License-Identifier: Apache-2.0
// An event as the program holds it: a fence, and the device that it was recorded or imported on. Several events, those
// that were imported, may share a fence.
#pragma once

#include <memory>
#include <utility>

#include "sim/device.h"
#include "sim/fence.h"

namespace arrowdevice::sim {

class Event {
 public:
  // `device` is NULL for an event that no device fires, but a test.
  Event(std::shared_ptr<Device> device, std::shared_ptr<Fence> fence)
      : device_(std::move(device)), fence_(std::move(fence)) {
    count(1);
  }
  ~Event() { count(-1); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  const std::shared_ptr<Device>& device() const { return device_; }
  const std::shared_ptr<Fence>& fence() const { return fence_; }

 private:
  void count(int change) {
    if (device_) device_->statistics().update([&](Counters& counters) { counters.events_live += change; });
  }

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<Fence> fence_;
};

}  // namespace arrowdevice::sim
