// SPDX-License-Identifier: Apache-2.0
// Copies between two devices without a direct path. Pieces pass through host memory, so that both links are busy at the
// same time.
#pragma once

#include <span>

#include "transfer/submit.h"

namespace arrowdevice::transfer {

// Submits regions from the route's source to its target. Occupies the calling thread until the last piece is submitted.
// `in_flight` holds the staging memory until the last piece has arrived. The regions of `from_host` go to the target
// together with the first piece. The deadline limits the waits.
void copy_staged(Route& route, std::span<const arrowdevice_backend_region> regions,
                 std::span<const arrowdevice_backend_region> from_host, const Deadline& deadline, InFlight& in_flight);

}  // namespace arrowdevice::transfer
