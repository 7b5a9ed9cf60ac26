// SPDX-License-Identifier: Apache-2.0
// Calls of the backend's table that only Level Zero has. Each of them must succeed. The common calls are in
// drivers/table.h.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

#include "drivers/table.h"

namespace level_zero {

// The minimum time that work stays pending, as a value of the stand-in's variable.
inline constexpr const char* kSlow = "20000";  // microseconds

inline void* gpu(int64_t id) { return drivers::open(ARROW_DEVICE_ONEAPI, id); }

inline void* wrap(int64_t id, ze_context_handle_t context, ze_device_handle_t device) {
  auto native = drivers::sized<arrowdevice_native_device>();
  native.context = context;
  native.device = device;
  return drivers::wrap(ARROW_DEVICE_ONEAPI, id, native);
}

inline void* locate(int64_t id, const void* buffer) { return drivers::locate(ARROW_DEVICE_ONEAPI, id, buffer); }

}  // namespace level_zero
