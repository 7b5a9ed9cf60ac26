// SPDX-License-Identifier: Apache-2.0
// What a physical device is and has, asked once.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  uint32_t api_version = 0;  // what may be used of it: the lesser of its own and the instance's
  std::string driver;        // "llvmpipe", or the vendor's number where the driver does not name itself
  uint8_t uuid[VK_UUID_SIZE] = {};
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> families;
  std::unordered_set<std::string> extensions;
  bool has_timeline_semaphores = false;
  VkDeviceSize host_import_alignment = 0;  // 0: no VK_EXT_external_memory_host

  std::string name() const { return properties.deviceName; }
  bool has(const char* extension) const { return extensions.contains(extension); }

  // `api_version`: the newest that the instance was made for.
  static PhysicalDevice ask(const InstanceFunctions& vk, VkPhysicalDevice handle, uint32_t api_version);
};

// Bytes that can still be had of the device-local heaps; -1 where the driver does not tell.
int64_t free_memory(const InstanceFunctions& vk, const PhysicalDevice& device);
int64_t total_memory(const PhysicalDevice& device);

}  // namespace arrowdevice::vulkan
