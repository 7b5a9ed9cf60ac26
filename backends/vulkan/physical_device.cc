// SPDX-License-Identifier: Apache-2.0
#include "vulkan/physical_device.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "vulkan/functions.h"

namespace arrowdevice::vulkan {
namespace {

std::unordered_set<std::string> extensions_of(const InstanceFunctions& vk, VkPhysicalDevice handle) {
  std::vector<VkExtensionProperties> found;
  VkResult result = VK_INCOMPLETE;
  while (result == VK_INCOMPLETE) {  // the second call may report more extensions
    uint32_t n = 0;
    check("vkEnumerateDeviceExtensionProperties",
          vk.vkEnumerateDeviceExtensionProperties(handle, nullptr, &n, nullptr));
    found.resize(n);
    result = vk.vkEnumerateDeviceExtensionProperties(handle, nullptr, &n, found.data());
    check("vkEnumerateDeviceExtensionProperties", result);
    found.resize(n);
  }
  std::unordered_set<std::string> names;
  for (const auto& one : found) names.insert(one.extensionName);
  return names;
}

bool is_device_local(const VkMemoryHeap& heap) { return (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0; }

constexpr VkQueueFlags kMoreThanTransfers = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                            VK_QUEUE_VIDEO_DECODE_BIT_KHR | VkQueueFlags{0x40} /* video encode */ |
                                            VkQueueFlags{0x100} /* optical flow */;

template <typename Wanted>
std::optional<uint32_t> find(const std::vector<VkQueueFamilyProperties>& families, Wanted wanted) {
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (families[i].queueCount > 0 && wanted(families[i])) return i;
  }
  return std::nullopt;
}

}  // namespace

PhysicalDevice PhysicalDevice::ask(const InstanceFunctions& vk, VkPhysicalDevice handle, uint32_t api_version) {
  PhysicalDevice device;
  device.handle = handle;
  device.extensions = extensions_of(vk, handle);

  vk.vkGetPhysicalDeviceProperties(handle, &device.properties);
  device.api_version = std::min(api_version, device.properties.apiVersion);
  const bool has_1_2 = device.api_version >= VK_API_VERSION_1_2;
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
  host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
  VkPhysicalDeviceDriverProperties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
  VkPhysicalDeviceIDProperties ids{};
  ids.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &ids;
  const auto chain = [](auto& front, auto& next) {
    next.pNext = front.pNext;
    front.pNext = &next;
  };
  const bool names_driver = has_1_2 || device.has(VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME);
  const bool imports_host_memory = device.has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (names_driver) chain(properties, driver);
  if (imports_host_memory) chain(properties, host);
  vk.vkGetPhysicalDeviceProperties2(handle, &properties);
  device.driver = names_driver ? driver.driverName : format("vendor 0x%04X", device.properties.vendorID);
  std::memcpy(device.uuid, ids.deviceUUID, sizeof device.uuid);
  std::memcpy(device.driver_uuid, ids.driverUUID, sizeof device.driver_uuid);
  device.host_import_alignment = imports_host_memory ? host.minImportedHostPointerAlignment : 0;

  if (has_1_2 || device.has(VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME)) {
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};
    timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &timeline;
    vk.vkGetPhysicalDeviceFeatures2(handle, &features);
    device.has_timeline_semaphores = timeline.timelineSemaphore == VK_TRUE;
  }

  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  vk.vkGetPhysicalDeviceMemoryProperties2(handle, &memory);
  device.memory = memory.memoryProperties;

  uint32_t n = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(handle, &n, nullptr);
  device.families.resize(n);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(handle, &n, device.families.data());
  return device;
}

int64_t total_memory(const PhysicalDevice& device) {
  int64_t total = 0;
  for (uint32_t i = 0; i < device.memory.memoryHeapCount; ++i) {
    const auto& heap = device.memory.memoryHeaps[i];
    if (is_device_local(heap)) total += static_cast<int64_t>(heap.size);
  }
  return total;
}

int64_t free_memory(const InstanceFunctions& vk, const PhysicalDevice& device) {
  if (!device.has(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) return -1;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  memory.pNext = &budget;
  vk.vkGetPhysicalDeviceMemoryProperties2(device.handle, &memory);
  VkDeviceSize free = 0;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    if (!is_device_local(memory.memoryProperties.memoryHeaps[i])) continue;
    if (budget.heapBudget[i] > budget.heapUsage[i]) free += budget.heapBudget[i] - budget.heapUsage[i];
  }
  return std::min(static_cast<int64_t>(free), total_memory(device));
}

bool sets_events(const VkQueueFamilyProperties& family) {
  return (family.queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)) != 0;
}

std::optional<uint32_t> main_family(const std::vector<VkQueueFamilyProperties>& families) {
  const auto computes_only = find(families, [](const auto& family) {
    return sets_events(family) && (family.queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0;
  });
  return computes_only ? computes_only : find(families, sets_events);
}

std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families) {
  return find(families, [](const auto& family) {
    return (family.queueFlags & VK_QUEUE_TRANSFER_BIT) != 0 && (family.queueFlags & kMoreThanTransfers) == 0;
  });
}

}  // namespace arrowdevice::vulkan
