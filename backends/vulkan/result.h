// SPDX-License-Identifier: Apache-2.0
// What Vulkan's calls return, as errors: "vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY (-2), 4096 bytes on
// llvmpipe".
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <string>

namespace arrowdevice::vulkan {

// Its name, "an unknown VkResult" for none that this backend knows.
const char* result_name(VkResult result) noexcept;

// Throws for a negative result, which are the failures. `detail` is what the call was about; may be empty.
void check(const char* call, VkResult result, const std::string& detail = {});

}  // namespace arrowdevice::vulkan
