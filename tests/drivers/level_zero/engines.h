// SPDX-License-Identifier: Apache-2.0
// The engines of the stand-in's devices, and the command lists that work on them.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <vector>

#include "level_zero/handles.h"
#include "level_zero/objects.h"

namespace standin::level_zero {

// Returns a variable of the environment as a number.
int64_t number(const char* variable, int64_t otherwise);

uint32_t compute_engines();

// Returns the groups of engines that a device has. A driver does not report empty groups.
std::vector<ze_command_queue_group_properties_t> engine_groups();

bool has_in_order_lists();

// Tells which engine copies for a list, as Intel's drivers of 2024: a hint counts for in-order lists of engines that
// compute, on every device with engines that only copy. Ends the process if the driver is too old for the hint.
Engine engine_of(const ze_command_queue_desc_t& description, const char* call);

}  // namespace standin::level_zero
