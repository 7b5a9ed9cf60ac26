// SPDX-License-Identifier: Apache-2.0
#include "vulkan/functions.h"

#include <cerrno>
#include <string>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

template <typename Function, typename Get, typename Owner>
void look_up(Function& function, Get get, Owner owner, const char* name) {
  function = reinterpret_cast<Function>(get(owner, name));
  if (function == nullptr) throw Error(ENODEV, std::string("the Vulkan driver has no ") + name);
}

template <typename Function>
void look_up_optional(Function& function, PFN_vkGetDeviceProcAddr get, VkDevice device, const std::string& name,
                      const char* suffix) {
  function = reinterpret_cast<Function>(get(device, name.c_str()));
  if (function == nullptr) function = reinterpret_cast<Function>(get(device, (name + suffix).c_str()));
}

}  // namespace

GlobalFunctions global_functions(PFN_vkGetInstanceProcAddr get) {
  GlobalFunctions functions;
  functions.vkGetInstanceProcAddr = get;
#define X(name) look_up(functions.name, get, VkInstance{VK_NULL_HANDLE}, #name);
  ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X)
#undef X
  return functions;
}

InstanceFunctions instance_functions(PFN_vkGetInstanceProcAddr get, VkInstance instance) {
  InstanceFunctions functions;
#define X(name) look_up(functions.name, get, instance, #name);
  ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(X)
#undef X
  return functions;
}

DeviceFunctions device_functions(PFN_vkGetDeviceProcAddr get, VkDevice device) {
  DeviceFunctions functions;
#define X(name) look_up(functions.name, get, device, #name);
  ARROWDEVICE_VULKAN_DEVICE_FUNCTIONS(X)
#undef X
#define X(name, suffix) look_up_optional(functions.name, get, device, #name, suffix);
  ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X)
#undef X
  return functions;
}

}  // namespace arrowdevice::vulkan
