// SPDX-License-Identifier: Apache-2.0
// The Vulkan handles of a device that the backend opened or that it wraps for an application.
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
  std::vector<Family> families;  // the main family, then the transfer family if there is one
  QueueLock lock;
  bool timeline_semaphores = false;  // enabled, like the next member
  bool external_memory_host = false;
  bool external_memory_fd = false;
  std::vector<std::string> extensions;         // enabled extensions
  const void* features = nullptr;              // a VkPhysicalDeviceFeatures2 that lives as long as the device
  std::shared_ptr<const void> owned_features;  // set if the library owns `features`
};

// Opens a VkDevice of the library.
Setup open_device(const Instance& instance, int64_t id, const Options& options);

// Wraps an application's VkDevice. Throws EINVAL if handles are missing. `loader` provides the functions if the
// application passes no loader function.
Setup wrap_device(int64_t id, const arrowdevice_native_device& native, const Options& options,
                  PFN_vkGetInstanceProcAddr loader);

}  // namespace arrowdevice::vulkan
