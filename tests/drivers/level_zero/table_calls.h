// SPDX-License-Identifier: Apache-2.0
// Calls of the backend's table that only Level Zero has. Each of them must succeed. The common calls are in
// drivers/table.h.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace level_zero {

// The minimum time that work stays pending, as a value of the stand-in's variable.
inline constexpr const char* kSlow = "20000";  // microseconds

void* gpu(int64_t id);
void* wrap(int64_t id, ze_context_handle_t context, ze_device_handle_t device);
void* locate(int64_t id, const void* buffer);

}  // namespace level_zero
