// SPDX-License-Identifier: Apache-2.0
// A VkDevice with its functions. All objects of the VkDevice refer to it.
#pragma once

#include <atomic>
#include <string>

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

}  // namespace arrowdevice::vulkan
