// SPDX-License-Identifier: Apache-2.0
// The fences of a queue without timeline semaphores. Fences are reused, because a submission needs one.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/logical_device.h"

namespace arrowdevice::vulkan {

// All functions are thread-safe.
class Fences : public std::enable_shared_from_this<Fences> {
 public:
  explicit Fences(const LogicalDevice& device) : device_(device) {}

  // Returns a fence that is not signalled. Its last owner returns it, when no submission in flight uses it and no
  // thread waits for it.
  std::shared_ptr<UniqueFence> take() {
    auto fence = std::make_unique<UniqueFence>(take_free());
    if (*fence) {
      device_.check("vkResetFences", device_->vkResetFences(device_.handle(), 1, fence->address()));
    } else {
      *fence = make_fence(device_);
      const std::lock_guard lock(mutex_);
      free_.reserve(++made_);  // give_back() must not fail
    }
    return {fence.release(), [self = shared_from_this()](UniqueFence* returned) { self->give_back(returned); }};
  }

 private:
  UniqueFence take_free() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    UniqueFence fence = std::move(free_.back());
    free_.pop_back();
    return fence;
  }

  void give_back(UniqueFence* returned) noexcept {
    const std::unique_ptr<UniqueFence> fence(returned);
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(*fence));
  }

  const LogicalDevice& device_;
  std::mutex mutex_;
  std::vector<UniqueFence> free_;
  size_t made_ = 0;
};

}  // namespace arrowdevice::vulkan
