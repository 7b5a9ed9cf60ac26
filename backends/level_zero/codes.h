// SPDX-License-Identifier: Apache-2.0
// Level Zero's codes: their names, their errno values, and errors that carry both.
#pragma once

#include <string>

#include "base/error.h"
#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

// Returns an error such as "zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003): 64 bytes".
Error failure(const char* call, ze_result_t result, const std::string& detail = {});

// Throws unless `result` is success.
inline void check(const char* call, ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS) throw failure(call, result);
}

// Returns true if a device is lost for this process after an error with this code.
bool is_fatal(int native_code) noexcept;

}  // namespace arrowdevice::level_zero
