// SPDX-License-Identifier: Apache-2.0
// A VkDevice with its functions. Everything that lives on it refers to one of these.
#pragma once

#include <atomic>
#include <string>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

class LogicalDevice {
 public:
  // `owned`: destroyed with this. `name` is what messages call it.
  LogicalDevice(VkDevice handle, PFN_vkGetDeviceProcAddr get, std::string name, bool owned);
  ~LogicalDevice();
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;

  VkDevice handle() const noexcept { return handle_; }
  const DeviceFunctions* operator->() const noexcept { return &vk_; }
  const std::string& name() const noexcept { return name_; }

  // Throws for a failure; from VK_ERROR_DEVICE_LOST on the device counts as lost.
  void check(const char* call, VkResult result) const {
    if (result < 0) check(call, result, {});
  }
  void check(const char* call, VkResult result, const std::string& detail) const;

  // A lost device stays lost: nothing more is asked of it, every operation ends with EIO.
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
