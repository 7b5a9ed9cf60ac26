// SPDX-License-Identifier: Apache-2.0
// What one device can do with the memory of another.
#pragma once

#include <cstdint>

#include "cuda_like/device.h"

namespace arrowdevice::cuda_like {

// ARROWDEVICE_PEER_*. NULL is the host.
uint32_t reach(const Device* from, const Device* to);

}  // namespace arrowdevice::cuda_like
