// SPDX-License-Identifier: Apache-2.0
// Peer access and peer copies between devices.
#pragma once

#include <cstdint>

#include "cuda_like/device.h"

namespace arrowdevice::cuda_like {

// Returns ARROWDEVICE_PEER_* flags. NULL is the host.
uint32_t reach(const Device* from, const Device* to);

}  // namespace arrowdevice::cuda_like
