// SPDX-License-Identifier: Apache-2.0
// The vendor's header, and constants of later versions that the backend uses if a driver supports them.
#pragma once

#include <level_zero/ze_api.h>

namespace arrowdevice::level_zero {

// From version 1.7 on: commands of an immediate list run in order.
inline constexpr ze_command_queue_flag_t kInOrder = static_cast<ze_command_queue_flag_t>(ZE_BIT(1));
inline constexpr uint32_t kFirstWithInOrder = ZE_MAKE_VERSION(1, 7);

}  // namespace arrowdevice::level_zero
