// SPDX-License-Identifier: Apache-2.0
// Vulkan functions of the loader and the drivers, and errors from their results.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <string>

#include "vulkan/symbols.h"

namespace arrowdevice::vulkan {

#define X(name) PFN_##name name = nullptr;
#define X_OPTIONAL(name, suffix) PFN_##name name = nullptr;

struct GlobalFunctions {
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
  ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X)
};

struct InstanceFunctions {
  ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(X)
};

struct DeviceFunctions {
  ARROWDEVICE_VULKAN_DEVICE_FUNCTIONS(X)
  ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X_OPTIONAL)  // NULL if the device does not have them
};

#undef X
#undef X_OPTIONAL

// Loads Vulkan functions. Throws ENODEV if a function is missing that Vulkan 1.1 requires.
GlobalFunctions global_functions(PFN_vkGetInstanceProcAddr get);
InstanceFunctions instance_functions(PFN_vkGetInstanceProcAddr get, VkInstance instance);
DeviceFunctions device_functions(PFN_vkGetDeviceProcAddr get, VkDevice device);

// Opens `library`, or the system's loader if `library` is empty, and never closes it. Throws ENODEV if there is no
// loader.
GlobalFunctions open_loader(const std::string& library);

// Returns the name, or "an unknown VkResult" if the backend does not know the value.
const char* result_name(VkResult result) noexcept;

// Throws if the result is negative, because negative results are failures. `detail` describes the call and may be
// empty.
void check(const char* call, VkResult result, const std::string& detail = {});

}  // namespace arrowdevice::vulkan
