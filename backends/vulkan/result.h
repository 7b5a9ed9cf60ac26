// SPDX-License-Identifier: Apache-2.0
// Converts VkResult to errors: "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY (-2), 4096 bytes on llvmpipe".
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <string>

namespace arrowdevice::vulkan {

// Returns the name, or "an unknown VkResult" if the backend does not know the value.
const char* result_name(VkResult result) noexcept;

// Throws if the result is negative, because negative results are failures. `detail` describes the call and may be
// empty.
void check(const char* call, VkResult result, const std::string& detail = {});

}  // namespace arrowdevice::vulkan
