// SPDX-License-Identifier: Apache-2.0
// Unique owners for handles of a VkDevice, and functions that create them.
#pragma once

#include <utility>

#include "vulkan/logical_device.h"

namespace arrowdevice::vulkan {

template <typename Handle, auto kDestroy>
class Unique {
 public:
  Unique() = default;
  Unique(const LogicalDevice& device, Handle handle) noexcept : device_(&device), handle_(handle) {}
  Unique(Unique&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, VK_NULL_HANDLE)) {}
  Unique& operator=(Unique&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Unique() {
    if (handle_ != VK_NULL_HANDLE) (device_->operator->()->*kDestroy)(device_->handle(), handle_, nullptr);
  }

  Handle get() const noexcept { return handle_; }
  const Handle* address() const noexcept { return &handle_; }
  explicit operator bool() const noexcept { return handle_ != VK_NULL_HANDLE; }

 private:
  const LogicalDevice* device_ = nullptr;
  Handle handle_ = VK_NULL_HANDLE;
};

using UniqueMemory = Unique<VkDeviceMemory, &DeviceFunctions::vkFreeMemory>;
using UniqueBuffer = Unique<VkBuffer, &DeviceFunctions::vkDestroyBuffer>;
using UniqueCommandPool = Unique<VkCommandPool, &DeviceFunctions::vkDestroyCommandPool>;
using UniqueFence = Unique<VkFence, &DeviceFunctions::vkDestroyFence>;
using UniqueSemaphore = Unique<VkSemaphore, &DeviceFunctions::vkDestroySemaphore>;
using UniqueEvent = Unique<VkEvent, &DeviceFunctions::vkDestroyEvent>;

UniqueMemory make_memory(const LogicalDevice& device, const VkMemoryAllocateInfo& info);
UniqueBuffer make_buffer(const LogicalDevice& device, const VkBufferCreateInfo& info);
UniqueCommandPool make_command_pool(const LogicalDevice& device, uint32_t family);
UniqueFence make_fence(const LogicalDevice& device);
UniqueSemaphore make_semaphore(const LogicalDevice& device);
UniqueSemaphore make_timeline(const LogicalDevice& device);  // starts at 0
UniqueEvent make_event(const LogicalDevice& device);

}  // namespace arrowdevice::vulkan
