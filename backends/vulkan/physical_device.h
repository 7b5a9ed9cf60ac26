// SPDX-License-Identifier: Apache-2.0
// The properties of a physical device, queried once, and the choice of its queue families.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties{};
  uint32_t api_version = 0;  // usable API version: the lesser of the device's and the instance's
  std::string driver;        // "llvmpipe", or the vendor's number if the driver has no name
  uint8_t uuid[VK_UUID_SIZE] = {};
  uint8_t driver_uuid[VK_UUID_SIZE] = {};  // of the driver and its version
  VkPhysicalDeviceMemoryProperties memory{};
  std::vector<VkQueueFamilyProperties> families;
  std::unordered_set<std::string> extensions;
  bool has_timeline_semaphores = false;
  VkDeviceSize host_import_alignment = 0;  // 0 without VK_EXT_external_memory_host

  std::string name() const { return properties.deviceName; }
  bool has(const char* extension) const { return extensions.contains(extension); }

  // `api_version` is the newest version that the instance allows.
  static PhysicalDevice ask(const InstanceFunctions& vk, VkPhysicalDevice handle, uint32_t api_version);
};

// Returns the free bytes of the device-local heaps, or -1 if the driver does not report them.
int64_t free_memory(const InstanceFunctions& vk, const PhysicalDevice& device);
int64_t total_memory(const PhysicalDevice& device);

// Returns true if the family's queues can set events. Transfer-only families have no commands for that.
bool sets_events(const VkQueueFamilyProperties& family);

// Returns the family that publishes events. It also runs copies if there is no transfer family. A family with compute
// and without graphics is preferred.
std::optional<uint32_t> main_family(const std::vector<VkQueueFamilyProperties>& families);

// Returns a family that supports only transfers.
std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families);

}  // namespace arrowdevice::vulkan
