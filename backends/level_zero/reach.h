// SPDX-License-Identifier: Apache-2.0
// Peer access and peer copies between devices.
#pragma once

#include <cstdint>

#include "level_zero/device.h"

namespace arrowdevice::level_zero {

// Returns ARROWDEVICE_PEER_* flags. NULL is the host.
uint32_t reach(const Device* from, const Device* to);

}  // namespace arrowdevice::level_zero
