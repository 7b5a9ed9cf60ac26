// SPDX-License-Identifier: Apache-2.0
// The events that the library has published for a device. The library uses the set to recognize its own events.
#pragma once

#include <mutex>
#include <unordered_set>

namespace arrowdevice::device {

// All functions may be called from any thread.
class PublishedEvents {
 public:
  void add(const void* sync_event) {
    const std::lock_guard lock(mutex_);
    events_.insert(sync_event);
  }

  void remove(const void* sync_event) noexcept {
    const std::lock_guard lock(mutex_);
    events_.erase(sync_event);
  }

  bool contains(const void* sync_event) const noexcept {
    const std::lock_guard lock(mutex_);
    return events_.contains(sync_event);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<const void*> events_;
};

}  // namespace arrowdevice::device
