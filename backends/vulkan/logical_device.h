// SPDX-License-Identifier: Apache-2.0
// A VkDevice with its functions, and unique owners of its objects. All objects of the VkDevice refer to it.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

class LogicalDevice {
 public:
  // If `owned` is true, the destructor destroys the VkDevice. Messages use `name`.
  LogicalDevice(VkDevice handle, PFN_vkGetDeviceProcAddr get, std::string name, bool owned);
  ~LogicalDevice();
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;

  VkDevice handle() const noexcept { return handle_; }
  const DeviceFunctions* operator->() const noexcept { return &vk_; }
  const std::string& name() const noexcept { return name_; }

  // Throws if the call failed. VK_ERROR_DEVICE_LOST marks the device as lost.
  void check(const char* call, VkResult result) const {
    if (result < 0) check(call, result, {});
  }
  void check(const char* call, VkResult result, const std::string& detail) const;

  // A lost device stays lost. The library no longer calls it, and every operation fails with EIO.
  bool is_lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  void check_not_lost() const;

 private:
  const VkDevice handle_;
  const bool owned_;
  const std::string name_;
  DeviceFunctions vk_;
  mutable std::atomic<bool> lost_{false};
};

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

VkMemoryRequirements requirements_of(const LogicalDevice& device, VkBuffer buffer);

}  // namespace arrowdevice::vulkan
