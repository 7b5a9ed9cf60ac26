// SPDX-License-Identifier: Apache-2.0
// A VkQueue with the lock that Vulkan requires around its use.
#pragma once

#include <cstdint>
#include <mutex>

#include "vulkan/logical_device.h"

namespace arrowdevice::vulkan {

// The application's lock for queues that it shares with the library.
struct QueueLock {
  void (*lock)(void* user, void* queue) = nullptr;
  void (*unlock)(void* user, void* queue) = nullptr;
  void* user = nullptr;
};

class NativeQueue {
 public:
  NativeQueue(const LogicalDevice& device, VkQueue handle, uint32_t family, bool sets_events, QueueLock lock)
      : device_(device), handle_(handle), family_(family), sets_events_(sets_events), application_(lock) {}
  NativeQueue(const NativeQueue&) = delete;
  NativeQueue& operator=(const NativeQueue&) = delete;

  VkQueue handle() const noexcept { return handle_; }
  uint32_t family() const noexcept { return family_; }
  bool sets_events() const noexcept { return sets_events_; }

  void submit(const VkSubmitInfo& info, VkFence fence) {
    const std::lock_guard lock(*this);
    device_.check("vkQueueSubmit", device_->vkQueueSubmit(handle_, 1, &info, fence));
  }

  // Locks the queue, for applications that use a queue of the library. submit() takes this lock too.
  void lock() {
    // Takes the library's mutex first, so that threads of the library never wait for each other inside the
    // application's lock.
    mutex_.lock();
    if (application_.lock != nullptr) application_.lock(application_.user, handle_);
  }
  void unlock() {
    if (application_.unlock != nullptr) application_.unlock(application_.user, handle_);
    mutex_.unlock();
  }

 private:
  const LogicalDevice& device_;
  const VkQueue handle_;
  const uint32_t family_;
  const bool sets_events_;
  const QueueLock application_;
  std::mutex mutex_;
};

}  // namespace arrowdevice::vulkan
