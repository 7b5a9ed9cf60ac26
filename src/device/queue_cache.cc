// SPDX-License-Identifier: Apache-2.0
#include "device/queue_cache.h"

#include <algorithm>
#include <new>

#include "device/device.h"
#include "device/queue.h"

namespace arrowdevice::device {
namespace {

// The number of busy queues that a device may have before another operation shares a queue.
constexpr size_t kMostQueues = 8;

}  // namespace

QueueCache::QueueCache(Device& device, bool usable_across_fork) : device_(device) {
  if (usable_across_fork) usable_across_fork_.emplace(mutex_);
}

QueueCache::~QueueCache() = default;

std::shared_ptr<Queue> QueueCache::take() {
  std::vector<std::shared_ptr<Queue>> dropped;  // destroyed after the unlock; work in flight on them continues
  {
    const std::lock_guard lock(mutex_);
    const auto take_from = [&](auto place) {
      auto queue = std::move(*place);
      idle_.erase(place);
      return queue;
    };
    // Each queue is queried once, so that a queue that fails between two queries is not taken as idle.
    for (auto place = idle_.begin(); place != idle_.end();) {
      switch ((*place)->state()) {
        case Queue::State::kIdle: {
          auto queue = take_from(place);
          queue->forget_waits();
          return queue;
        }
        case Queue::State::kFailed:
          dropped.push_back(std::move(*place));
          place = idle_.erase(place);
          break;
        case Queue::State::kBusy: ++place; break;
      }
    }
    // All remaining queues are busy, so a new queue is created, up to a limit. Beyond the limit the operation shares a
    // queue. It never shares a queue that may wait for a foreign producer, because it would fail with that producer or
    // wait without end.
    if (idle_.size() >= kMostQueues) {
      const auto shared = std::ranges::find_if(idle_, [](const auto& queue) { return !queue->may_wait_for_others(); });
      if (shared != idle_.end()) return take_from(shared);
      dropped.push_back(take_from(idle_.begin()));
    }
  }
  return Queue::create(device_);
}

void QueueCache::put_back(std::shared_ptr<Queue> queue) noexcept {
  // With work after the last event, the library could not tell if the queue is idle. The queue is dropped, as it is if
  // the list cannot grow. Work in flight continues.
  if (device_.is_borrowed() || queue->has_unseen_work()) return;
  const std::lock_guard lock(mutex_);
  try {
    idle_.push_back(std::move(queue));
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::vector<std::shared_ptr<Queue>> QueueCache::take_all() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(idle_, {});
}

QueueLease::QueueLease(Device& device) : cache_(&device.queues()), queue_(cache_->take()) {}

QueueLease::~QueueLease() {
  if (queue_ != nullptr) cache_->put_back(std::move(queue_));
}

}  // namespace arrowdevice::device
