// SPDX-License-Identifier: Apache-2.0
// Large copies between a device and pageable host memory: through pinned memory in pieces, which several threads fill
// or empty while other pieces are on the link. A driver does the same by itself, with one thread, which is slower than
// the link.
#pragma once

#include <span>

#include "transfer/submit.h"

namespace arrowdevice::transfer {

// Whether copies between these two may go this way: if they are large, the calling thread carries pieces itself.
bool may_go_through_pinned(const device::Device& source, const device::Device& target);

// Whether a copy of so many bytes along a route with the host at one end is to go this way, as far as they are in
// pageable memory. Not on a queue of the application's own, since several threads would use it.
bool gains_from_pinned(const Route& route, int64_t bytes);

// Whether the driver at the other end of such a route does not know this memory as pinned.
bool is_pageable(const Route& route, const void* host) noexcept;

// Copies regions that lead from one end of such a route to the other. To a device: the last pieces may still be on
// their way on return, and the staging memory stays in `in_flight`. From a device: all bytes are there on return.
void copy_through_pinned(Route& route, std::span<const arrowdevice_backend_region> regions, InFlight& in_flight);

}  // namespace arrowdevice::transfer
