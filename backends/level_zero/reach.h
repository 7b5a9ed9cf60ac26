// SPDX-License-Identifier: Apache-2.0
// What one device can do with the memory of another.
#pragma once

#include <cstdint>

#include "level_zero/device.h"

namespace arrowdevice::level_zero {

// ARROWDEVICE_PEER_*. NULL is the host.
uint32_t reach(const Device* from, const Device* to);

}  // namespace arrowdevice::level_zero
