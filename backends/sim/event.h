// SPDX-License-Identifier: Apache-2.0
// An event of the backend table: a fence, and the device that recorded or imported it. Imported events may share a
// fence.
#pragma once

#include <memory>
#include <utility>

#include "sim/device.h"
#include "sim/fence.h"

namespace arrowdevice::sim {

class Event {
 public:
  // `device` is NULL for an event that a test fires.
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
