// SPDX-License-Identifier: Apache-2.0
// The backend's own VkInstance and its physical devices.
#pragma once

#include <vector>

#include "vulkan/options.h"
#include "vulkan/physical_device.h"

namespace arrowdevice::vulkan {

class Instance {
 public:
  // Throws ENODEV if there is no loader or no driver.
  explicit Instance(const Options& options);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  VkInstance handle() const noexcept { return handle_; }
  const GlobalFunctions& global() const noexcept { return global_; }
  const InstanceFunctions& vk() const noexcept { return vk_; }
  uint32_t api_version() const noexcept { return api_version_; }

  // Returns the physical devices with Vulkan 1.1 and a queue that copies and sets events. They are in the loader's
  // order, and the index is the device id.
  const std::vector<PhysicalDevice>& physical_devices() const noexcept { return physical_devices_; }

 private:
  void find_physical_devices();

  GlobalFunctions global_;
  uint32_t api_version_ = 0;
  VkInstance handle_ = VK_NULL_HANDLE;
  InstanceFunctions vk_;
  std::vector<PhysicalDevice> physical_devices_;
};

}  // namespace arrowdevice::vulkan
