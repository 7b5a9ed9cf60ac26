// SPDX-License-Identifier: Apache-2.0
#include "vulkan/native_queue.h"

namespace arrowdevice::vulkan {

// Takes the library's mutex first, so that threads of the library never wait for each other inside the application's
// lock.
void NativeQueue::lock() {
  mutex_.lock();
  if (application_.lock != nullptr) application_.lock(application_.user, handle_);
}

void NativeQueue::unlock() {
  if (application_.unlock != nullptr) application_.unlock(application_.user, handle_);
  mutex_.unlock();
}

void NativeQueue::submit(const VkSubmitInfo& info, VkFence fence) {
  const std::lock_guard lock(*this);
  device_.check("vkQueueSubmit", device_->vkQueueSubmit(handle_, 1, &info, fence));
}

}  // namespace arrowdevice::vulkan
