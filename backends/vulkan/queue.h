// SPDX-License-Identifier: Apache-2.0
// A queue of the backend table. It owns a submission queue until queue_destroy.
#pragma once

#include <memory>

#include "vulkan/device.h"

namespace arrowdevice::vulkan {

class Queue {
 public:
  Queue(Device& device, std::shared_ptr<SubmissionQueue> lane) noexcept : device_(device), lane_(std::move(lane)) {}
  ~Queue() { device_.end_lane(std::move(lane_)); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const noexcept { return device_; }
  const std::shared_ptr<SubmissionQueue>& lane() const noexcept { return lane_; }

 private:
  Device& device_;
  std::shared_ptr<SubmissionQueue> lane_;
};

}  // namespace arrowdevice::vulkan
