// SPDX-License-Identifier: Apache-2.0
// A batch of regions, as the table gets it, checked and turned into work for the engine.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "sim/devices.h"
#include "sim/engine.h"

namespace arrowdevice::sim {

// What a batch adds to the counters of the device whose queue it goes to.
struct CheckedCopy {
  CopyWork work;
  Counters counted;
};

// Throws Error(EINVAL) for buffers that are not of the devices named and ranges outside of them, Error(ENOTSUP) for
// another device's memory where there is no direct path.
CheckedCopy check_copy(const Devices& devices, const Device& queue_device,
                       std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::sim
