// SPDX-License-Identifier: Apache-2.0
// The VkEvents that the library published. The library recognizes them if a consumer passes them back.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vulkan/submission_queue.h"

namespace arrowdevice::vulkan {

// All functions are thread-safe.
class PublishedEvents {
 public:
  struct Point {
    std::shared_ptr<SubmissionQueue> queue;
    uint64_t number;
  };

  void add(VkEvent event, std::shared_ptr<SubmissionQueue> queue, uint64_t number) {
    const std::lock_guard lock(mutex_);
    points_.insert_or_assign(event, Point{std::move(queue), number});
  }

  void remove(VkEvent event) noexcept {
    const std::lock_guard lock(mutex_);
    points_.erase(event);
  }

  std::optional<Point> find(VkEvent event) const {
    const std::lock_guard lock(mutex_);
    const auto found = points_.find(event);
    return found == points_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<VkEvent, Point> points_;
};

}  // namespace arrowdevice::vulkan
