// SPDX-License-Identifier: Apache-2.0
// Calls of the backend's table with what only Level Zero has, each of which must succeed; the others: drivers/table.h.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace level_zero {

// Work is pending for so long at least, as a variable of the stand-in says it.
inline constexpr const char* kSlow = "20000";  // microseconds

void* gpu(int64_t id);
void* wrap(int64_t id, ze_context_handle_t context, ze_device_handle_t device);
void* locate(int64_t id, const void* buffer);

}  // namespace level_zero
