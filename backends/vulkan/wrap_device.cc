// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "vulkan/setup.h"

namespace arrowdevice::vulkan {
namespace {

void require(const void* handle, const char* member) {
  if (handle == nullptr) throw Error(EINVAL, format("arrowdevice_native_device.%s is NULL", member));
}

bool enables_timeline_semaphores(const void* features) {
  for (const auto* next = static_cast<const VkBaseInStructure*>(features); next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) {
      return reinterpret_cast<const VkPhysicalDeviceTimelineSemaphoreFeatures*>(next)->timelineSemaphore == VK_TRUE;
    }
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      return reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(next)->timelineSemaphore == VK_TRUE;
    }
  }
  return false;
}

}  // namespace

Setup wrap_device(int64_t id, const arrowdevice_native_device& native, const Options& options,
                  PFN_vkGetInstanceProcAddr loader) {
  require(native.platform, "platform, the VkInstance,");
  require(native.physical_device, "physical_device, the VkPhysicalDevice,");
  require(native.device, "device, the VkDevice,");
  require(native.queue, "queue, the VkQueue,");
  if ((native.lock == nullptr) != (native.unlock == nullptr)) {
    throw Error(EINVAL, "arrowdevice_native_device.lock and unlock come together, but only one is there");
  }
  Setup setup;
  setup.id = id;
  setup.wrapped = true;
  setup.options = options;
  setup.instance = static_cast<VkInstance>(native.platform);
  setup.get_proc_addr =
      native.get_proc_addr != nullptr ? reinterpret_cast<PFN_vkGetInstanceProcAddr>(native.get_proc_addr) : loader;
  setup.instance_functions = instance_functions(setup.get_proc_addr, setup.instance);
  const uint32_t version = native.api_version != 0 ? native.api_version : VK_API_VERSION_1_1;
  if (version < VK_API_VERSION_1_1) {
    throw Error(EINVAL, "arrowdevice_native_device.api_version, that of the VkInstance, is 1.0; 1.1 is needed");
  }
  setup.physical =
      PhysicalDevice::ask(setup.instance_functions, static_cast<VkPhysicalDevice>(native.physical_device), version);
  const PhysicalDevice& physical = setup.physical;
  if (native.queue_family >= physical.families.size()) {
    throw Error(EINVAL, format("arrowdevice_native_device.queue_family is %u, but %s has %zu", native.queue_family,
                               physical.properties.deviceName, physical.families.size()));
  }
  for (uint32_t i = 0; i < native.n_extensions; ++i) setup.extensions.emplace_back(native.extensions[i]);
  const auto enabled = [&](const char* name) {
    return std::ranges::find(setup.extensions, name) != setup.extensions.end();
  };
  setup.features = native.features;
  setup.timeline_semaphores = options.timeline_semaphores && enables_timeline_semaphores(native.features);
  setup.external_memory_host = options.external_memory_host && physical.host_import_alignment != 0 &&
                               enabled(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  setup.external_memory_fd = options.external_memory_fd && enabled(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  setup.families.push_back({native.queue_family, {static_cast<VkQueue>(native.queue)}});
  setup.lock = {native.lock, native.unlock, native.lock_user};
  setup.logical = std::make_unique<LogicalDevice>(static_cast<VkDevice>(native.device),
                                                  setup.instance_functions.vkGetDeviceProcAddr, physical.name(), false);
  return setup;
}

}  // namespace arrowdevice::vulkan
