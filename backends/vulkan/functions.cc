// SPDX-License-Identifier: Apache-2.0
#include "vulkan/functions.h"

#include <dlfcn.h>

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

struct Known {
  VkResult result;
  const char* name;
  int code;
};

#define KNOWN(result, code) \
  { result, #result, code }
constexpr Known kKnown[] = {
    KNOWN(VK_ERROR_OUT_OF_HOST_MEMORY, ENOMEM),
    KNOWN(VK_ERROR_OUT_OF_DEVICE_MEMORY, ENOMEM),
    KNOWN(VK_ERROR_OUT_OF_POOL_MEMORY, ENOMEM),
    KNOWN(VK_ERROR_TOO_MANY_OBJECTS, ENOMEM),
    KNOWN(VK_ERROR_FRAGMENTED_POOL, ENOMEM),
    KNOWN(VK_ERROR_FRAGMENTATION, ENOMEM),
    KNOWN(VK_ERROR_MEMORY_MAP_FAILED, ENOMEM),
    KNOWN(VK_ERROR_INITIALIZATION_FAILED, ENODEV),
    KNOWN(VK_ERROR_INCOMPATIBLE_DRIVER, ENODEV),
    KNOWN(VK_ERROR_LAYER_NOT_PRESENT, ENOTSUP),
    KNOWN(VK_ERROR_EXTENSION_NOT_PRESENT, ENOTSUP),
    KNOWN(VK_ERROR_FEATURE_NOT_PRESENT, ENOTSUP),
    KNOWN(VK_ERROR_FORMAT_NOT_SUPPORTED, ENOTSUP),
    KNOWN(VK_ERROR_INVALID_EXTERNAL_HANDLE, EINVAL),
    KNOWN(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS, EINVAL),
    KNOWN(VK_ERROR_NOT_PERMITTED_KHR, EACCES),
    KNOWN(VK_ERROR_VALIDATION_FAILED_EXT, EINVAL),
    KNOWN(VK_ERROR_DEVICE_LOST, EIO),
    KNOWN(VK_ERROR_UNKNOWN, EIO),
};
#undef KNOWN

const Known* find(VkResult result) noexcept {
  for (const Known& known : kKnown) {
    if (known.result == result) return &known;
  }
  return nullptr;
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

GlobalFunctions open_loader(const std::string& library) {
  const std::string name = library.empty() ? "libvulkan.so.1" : library;
  void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    const char* const why = dlerror();
    throw Error(ENODEV, std::string("there is no Vulkan loader: ") + (why != nullptr ? why : name.c_str()));
  }
  auto* const get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(opened, "vkGetInstanceProcAddr"));
  if (get == nullptr) throw Error(ENODEV, name + " is not a Vulkan loader: it has no vkGetInstanceProcAddr");
  return global_functions(get);
}

const char* result_name(VkResult result) noexcept {
  const Known* known = find(result);
  return known != nullptr ? known->name : "an unknown VkResult";
}

void check(const char* call, VkResult result, const std::string& detail) {
  if (result >= 0) return;
  const Known* known = find(result);
  throw Error(known != nullptr ? known->code : EIO,
              format("%s: %s (%d)%s%s", call, result_name(result), result, detail.empty() ? "" : ", ", detail.c_str()),
              {}, result);
}

}  // namespace arrowdevice::vulkan
