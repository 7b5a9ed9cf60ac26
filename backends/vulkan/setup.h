// SPDX-License-Identifier: Apache-2.0
// The Vulkan side of a device, however it was come by: opened by the backend or wrapped from an application.
#pragma once

#include <arrowdevice/backend.h>

#include <memory>
#include <string>
#include <vector>

#include "vulkan/instance.h"
#include "vulkan/native_queue.h"
#include "vulkan/options.h"

namespace arrowdevice::vulkan {

// An opened queue family.
struct Family {
  uint32_t index;
  std::vector<VkQueue> queues;
};

struct Setup {
  int64_t id = 0;
  bool wrapped = false;
  Options options;
  VkInstance instance = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr get_proc_addr = nullptr;
  InstanceFunctions instance_functions;
  PhysicalDevice physical;
  std::unique_ptr<LogicalDevice> logical;
  std::vector<Family> families;  // the main one, then the one for transfers if there is one
  QueueLock lock;
  bool timeline_semaphores = false;  // enabled, as the next one
  bool external_memory_host = false;
  std::vector<std::string> extensions;         // enabled
  const void* features = nullptr;              // a VkPhysicalDeviceFeatures2, as long as the device lives
  std::shared_ptr<const void> owned_features;  // where it is ours
};

// A VkDevice of our own.
Setup open_device(const Instance& instance, int64_t id, const Options& options);

// An application's. Throws EINVAL for handles that are missing. `global` gives the loader where the application names
// none.
Setup wrap_device(int64_t id, const arrowdevice_native_device& native, const Options& options,
                  PFN_vkGetInstanceProcAddr loader);

}  // namespace arrowdevice::vulkan
