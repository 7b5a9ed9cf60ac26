// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "vulkan/functions.h"
#include "vulkan/physical_device.h"
#include "vulkan/setup.h"

namespace arrowdevice::vulkan {
namespace {

// More queues of a family do not make copies faster.
constexpr uint32_t kMostQueues = 4;

// The features passed to vkCreateDevice. arrowdevice_device_get_native() returns them as long as the device lives.
struct Features {
  VkPhysicalDeviceFeatures2 features{};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{};

  explicit Features(bool timeline_semaphores) {
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
    timeline.timelineSemaphore = VK_TRUE;
    if (timeline_semaphores) features.pNext = &timeline;
  }
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
};

std::vector<std::string> wanted_extensions(const PhysicalDevice& physical, const Setup& setup) {
  std::vector<std::string> names;
  if (setup.external_memory_host) names.emplace_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  if (setup.external_memory_fd) names.emplace_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  if (setup.timeline_semaphores && physical.api_version < VK_API_VERSION_1_2) {
    names.emplace_back(VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
  }
  return names;
}

}  // namespace

Setup open_device(const Instance& instance, int64_t id, const Options& options) {
  Setup setup;
  setup.id = id;
  setup.options = options;
  setup.instance = instance.handle();
  setup.get_proc_addr = instance.global().vkGetInstanceProcAddr;
  setup.instance_functions = instance.vk();
  setup.physical = instance.physical_devices()[static_cast<size_t>(id)];
  const PhysicalDevice& physical = setup.physical;
  setup.timeline_semaphores = options.timeline_semaphores && physical.has_timeline_semaphores;
  setup.external_memory_host = options.external_memory_host && physical.host_import_alignment != 0;
  setup.external_memory_fd = options.external_memory_fd && physical.has(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  setup.extensions = wanted_extensions(physical, setup);

  setup.families.push_back({*main_family(physical.families), {}});
  const auto transfers = transfer_family(physical.families);
  if (transfers && options.transfer_family) setup.families.push_back({*transfers, {}});

  const std::vector<float> priorities(kMostQueues, 1.0F);
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (auto& family : setup.families) {
    VkDeviceQueueCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    info.queueFamilyIndex = family.index;
    info.queueCount = std::min(physical.families[family.index].queueCount, kMostQueues);
    info.pQueuePriorities = priorities.data();
    queues.push_back(info);
    family.queues.resize(info.queueCount);
  }
  std::vector<const char*> extensions;
  for (const auto& name : setup.extensions) extensions.push_back(name.c_str());
  const auto features = std::make_shared<const Features>(setup.timeline_semaphores);
  VkDeviceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  create.pNext = &features->features;
  create.queueCreateInfoCount = static_cast<uint32_t>(queues.size());
  create.pQueueCreateInfos = queues.data();
  create.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  VkDevice handle = VK_NULL_HANDLE;
  check("vkCreateDevice", instance.vk().vkCreateDevice(physical.handle, &create, nullptr, &handle), physical.name());
  setup.logical = std::make_unique<LogicalDevice>(handle, instance.vk().vkGetDeviceProcAddr, physical.name(), true);
  for (auto& family : setup.families) {
    for (uint32_t i = 0; i < family.queues.size(); ++i) {
      (*setup.logical)->vkGetDeviceQueue(handle, family.index, i, &family.queues[i]);
    }
  }
  setup.features = &features->features;
  setup.owned_features = features;
  return setup;
}

}  // namespace arrowdevice::vulkan
