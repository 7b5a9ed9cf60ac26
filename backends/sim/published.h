// SPDX-License-Identifier: Apache-2.0
// The published form of an event. The format leaves the form for ARROW_DEVICE_EXT_DEV to the driver. Here `sync_event`
// is a
//
//   struct arrowdevice_sim_event**
//
// It points to a pointer that holds the native event, like `cudaEvent_t*` and `cl_event*`. The native event is opaque.
#pragma once

#include <memory>

#include "sim/simulation.h"

namespace arrowdevice::sim {

// Returns a pointer that is valid as long as the event. Throws Error(EINVAL) if `event` is not live.
void* publish_event(Simulation& simulation, void* event);

// Throws Error(EINVAL) if `sync_event` does not point to a live event, as far as this can be checked without a read
// through it.
std::shared_ptr<Event> published_event(const Simulation& simulation, const void* sync_event);

}  // namespace arrowdevice::sim
