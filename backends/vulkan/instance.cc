// SPDX-License-Identifier: Apache-2.0
#include "vulkan/instance.h"

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "vulkan/functions.h"
#include "vulkan/physical_device.h"

namespace arrowdevice::vulkan {

Instance::Instance(const Options& options) : global_(open_loader(options.library)) {
  check("vkEnumerateInstanceVersion", global_.vkEnumerateInstanceVersion(&api_version_));
  if (api_version_ < VK_API_VERSION_1_1) throw Error(ENODEV, "the Vulkan loader knows Vulkan 1.0 only; 1.1 is needed");

  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "libarrowdevice";
  // Requests the newest version whose functions the backend uses. A device offers that version only if the instance
  // requests it.
  application.apiVersion = std::min<uint32_t>(api_version_, VK_API_VERSION_1_2);
  VkInstanceCreateInfo create{};
  create.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  create.pApplicationInfo = &application;
  const VkResult made = global_.vkCreateInstance(&create, nullptr, &handle_);
  check("vkCreateInstance", made, made == VK_ERROR_INCOMPATIBLE_DRIVER ? "the loader finds no Vulkan driver" : "");
  api_version_ = application.apiVersion;
  try {
    vk_ = instance_functions(global_.vkGetInstanceProcAddr, handle_);
    find_physical_devices();
  } catch (...) {
    if (vk_.vkDestroyInstance != nullptr) vk_.vkDestroyInstance(handle_, nullptr);
    throw;
  }
}

Instance::~Instance() { vk_.vkDestroyInstance(handle_, nullptr); }

void Instance::find_physical_devices() {
  std::vector<VkPhysicalDevice> handles;
  VkResult result = VK_INCOMPLETE;
  while (result == VK_INCOMPLETE) {  // the second call may report more devices
    uint32_t n = 0;
    check("vkEnumeratePhysicalDevices", vk_.vkEnumeratePhysicalDevices(handle_, &n, nullptr));
    handles.resize(n);
    result = vk_.vkEnumeratePhysicalDevices(handle_, &n, handles.data());
    check("vkEnumeratePhysicalDevices", result);
    handles.resize(n);
  }
  for (VkPhysicalDevice handle : handles) {
    VkPhysicalDeviceProperties properties{};
    vk_.vkGetPhysicalDeviceProperties(handle, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_1) continue;
    auto device = PhysicalDevice::ask(vk_, handle, api_version_);
    if (main_family(device.families)) physical_devices_.push_back(std::move(device));
  }
}

}  // namespace arrowdevice::vulkan
