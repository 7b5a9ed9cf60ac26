// SPDX-License-Identifier: Apache-2.0
// A buffer that the C API returned, as deferred work. Freeing it therefore needs no memory.
#pragma once

#include "device/deferred.h"
#include "device/pool.h"

namespace arrowdevice::device {

struct HeldBuffer final : Deferred {
  Allocation allocation;
};

}  // namespace arrowdevice::device
