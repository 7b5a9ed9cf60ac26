// SPDX-License-Identifier: Apache-2.0
// Which queue families are opened, and what for.
#pragma once

#include <optional>
#include <vector>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

// Whether its queues can set events: transfer-only families have no commands for that.
bool sets_events(const VkQueueFamilyProperties& family);

// Where events are published, and copies run where no family is made for them: compute without graphics, if there is
// one.
std::optional<uint32_t> main_family(const std::vector<VkQueueFamilyProperties>& families);

// A family that does nothing but transfers.
std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families);

}  // namespace arrowdevice::vulkan
