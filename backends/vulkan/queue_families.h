// SPDX-License-Identifier: Apache-2.0
// Chooses the queue families that a device opens.
#pragma once

#include <optional>
#include <vector>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

// Returns true if the family's queues can set events. Transfer-only families have no commands for that.
bool sets_events(const VkQueueFamilyProperties& family);

// Returns the family that publishes events. It also runs copies if there is no transfer family. A family with compute
// and without graphics is preferred.
std::optional<uint32_t> main_family(const std::vector<VkQueueFamilyProperties>& families);

// Returns a family that supports only transfers.
std::optional<uint32_t> transfer_family(const std::vector<VkQueueFamilyProperties>& families);

}  // namespace arrowdevice::vulkan
