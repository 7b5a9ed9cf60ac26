// SPDX-License-Identifier: Apache-2.0
// The idle queues of a device, for its next operations.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/process.h"

namespace arrowdevice::device {

class Device;
class Queue;

// Any thread may call this class.
class QueueCache {
 public:
  QueueCache(Device& device, bool usable_across_fork);
  ~QueueCache();

  // Returns a queue for one operation. Concurrent operations get different queues.
  std::shared_ptr<Queue> take();
  void put_back(std::shared_ptr<Queue> queue) noexcept;

  std::vector<std::shared_ptr<Queue>> take_all() noexcept;

 private:
  Device& device_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Queue>> idle_;
  std::optional<process::UsableAcrossFork> usable_across_fork_;
};

// A queue from the cache of a device, leased for the duration of an operation.
class QueueLease {
 public:
  QueueLease() = default;
  explicit QueueLease(Device& device);
  QueueLease(const QueueLease&) = delete;
  ~QueueLease();
  QueueLease(QueueLease&& other) noexcept = default;
  QueueLease& operator=(QueueLease&& other) noexcept {
    std::swap(cache_, other.cache_);
    std::swap(queue_, other.queue_);
    return *this;
  }

  Queue* get() const noexcept { return queue_.get(); }

  // Drops the queue for good, because the work on it may never finish.
  void abandon() noexcept { queue_.reset(); }

 private:
  QueueCache* cache_ = nullptr;
  std::shared_ptr<Queue> queue_;
};

}  // namespace arrowdevice::device
