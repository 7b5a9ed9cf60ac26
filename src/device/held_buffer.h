// SPDX-License-Identifier: Apache-2.0
// A buffer that the C API gave out, as what can be deferred: so that giving it back needs no memory.
#pragma once

#include "device/pool.h"
#include "device/reaper.h"

namespace arrowdevice::device {

struct HeldBuffer final : Deferred {
  Allocation allocation;
};

}  // namespace arrowdevice::device
