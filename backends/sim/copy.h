// SPDX-License-Identifier: Apache-2.0
// Checks a batch of regions of the backend table and converts it to work for the engine.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "sim/devices.h"
#include "sim/engine.h"

namespace arrowdevice::sim {

// The work of a batch, and the batch's share of the counters of the queue's device.
struct CheckedCopy {
  CopyWork work;
  Counters counted;
};

// Throws Error(EINVAL) if a buffer does not belong to the named device or a range exceeds its buffer. Throws
// Error(ENOTSUP) for memory of another device if there are no peer copies.
CheckedCopy check_copy(const Devices& devices, const Device& queue_device,
                       std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::sim
