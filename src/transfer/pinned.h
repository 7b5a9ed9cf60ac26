// SPDX-License-Identifier: Apache-2.0
// Large copies between a device and pageable host memory. Several threads copy pieces through pinned memory while other
// pieces are on the link. A driver does the same with a single thread, which is slower than the link.
#pragma once

#include <span>

#include "transfer/submit.h"

namespace arrowdevice::transfer {

// Returns true if copies between the two devices may use this path. A large copy then occupies the calling thread.
bool may_go_through_pinned(const device::Device& source, const device::Device& target);

// Returns true if a copy of `bytes` bytes should use this path, for its ranges in pageable memory. The route has the
// host at one end. The function returns false for the application's own queue, because several threads would use that
// queue.
bool gains_from_pinned(const Route& route, int64_t bytes);

// Returns true if the driver at the device's end of the route does not know the memory as pinned.
bool is_pageable(const Route& route, const void* host) noexcept;

// Copies regions between the ends of such a route. For a copy to a device, the last pieces may still be in flight on
// return, and `in_flight` holds the staging memory. For a copy from a device, all bytes have arrived on return.
void copy_through_pinned(Route& route, std::span<const arrowdevice_backend_region> regions, InFlight& in_flight);

}  // namespace arrowdevice::transfer
