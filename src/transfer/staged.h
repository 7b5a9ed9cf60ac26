// SPDX-License-Identifier: Apache-2.0
// Copies between two devices that have no direct path: through host memory in pieces, so that both links
// are busy at the same time.
#pragma once

#include <span>

#include "transfer/submit.h"

namespace arrowdevice::transfer {

// Submits regions that lead from the route's source to its target. Occupies the calling thread until the last piece is
// submitted; the staging memory stays in `in_flight` until that piece is done.
// `from_host` goes to the target along with the first piece.
void copy_staged(Route& route, std::span<const arrowdevice_backend_region> regions,
                 std::span<const arrowdevice_backend_region> from_host, InFlight& in_flight);

}  // namespace arrowdevice::transfer
