// SPDX-License-Identifier: Apache-2.0
#include "vulkan/result.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

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
