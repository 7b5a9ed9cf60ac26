// SPDX-License-Identifier: Apache-2.0
#include "level_zero/codes.h"

#include <cerrno>
#include <string_view>

namespace arrowdevice::level_zero {
namespace {

const char* name_of(ze_result_t result) {
  switch (result) {
#define NAMED(code) \
  case code: return #code;
    NAMED(ZE_RESULT_NOT_READY)
    NAMED(ZE_RESULT_ERROR_DEVICE_LOST)
    NAMED(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY)
    NAMED(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
    NAMED(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET)
    NAMED(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE)
    NAMED(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS)
    NAMED(ZE_RESULT_ERROR_NOT_AVAILABLE)
    NAMED(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE)
    NAMED(ZE_RESULT_ERROR_UNINITIALIZED)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_VERSION)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
    NAMED(ZE_RESULT_ERROR_INVALID_ARGUMENT)
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_HANDLE)
    NAMED(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE)
    NAMED(ZE_RESULT_ERROR_INVALID_NULL_POINTER)
    NAMED(ZE_RESULT_ERROR_INVALID_SIZE)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT)
    NAMED(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT)
    NAMED(ZE_RESULT_ERROR_INVALID_ENUMERATION)
    NAMED(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION)
    NAMED(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE)
    NAMED(ZE_RESULT_ERROR_OVERLAPPING_REGIONS)
    NAMED(ZE_RESULT_WARNING_ACTION_REQUIRED)
    NAMED(ZE_RESULT_ERROR_UNKNOWN)
#undef NAMED
    default: return "unknown code";
  }
}

int errno_of(std::string_view call, ze_result_t result) {
  switch (result) {
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
    case ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY: return ENOMEM;
    // The library never requests empty memory, so the size exceeds the limit of one allocation.
    case ZE_RESULT_ERROR_UNSUPPORTED_SIZE: return call.starts_with("zeMemAlloc") ? ENOMEM : EINVAL;
    case ZE_RESULT_ERROR_UNSUPPORTED_VERSION:
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
    case ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT:
    case ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION: return ENOTSUP;
    case ZE_RESULT_ERROR_UNINITIALIZED:
    case ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE: return ENODEV;
    case ZE_RESULT_ERROR_INVALID_ARGUMENT:
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE:
    case ZE_RESULT_ERROR_INVALID_NULL_POINTER:
    case ZE_RESULT_ERROR_INVALID_SIZE:
    case ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT:
    case ZE_RESULT_ERROR_INVALID_ENUMERATION:
    case ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE:
    case ZE_RESULT_ERROR_OVERLAPPING_REGIONS: return EINVAL;
    default: return EIO;
  }
}

}  // namespace

Error failure(const char* call, ze_result_t result, const std::string& detail) {
  return {errno_of(call, result),
          format("%s: %s (0x%x)%s", call, name_of(result), static_cast<unsigned>(result),
                 detail.empty() ? "" : (": " + detail).c_str()),
          {},
          static_cast<int>(result)};
}

bool is_fatal(int native_code) noexcept {
  return native_code == ZE_RESULT_ERROR_DEVICE_LOST || native_code == ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET;
}

}  // namespace arrowdevice::level_zero
