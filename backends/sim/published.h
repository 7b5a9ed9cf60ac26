// SPDX-License-Identifier: Apache-2.0
// The published form of an event. The format leaves ARROW_DEVICE_EXT_DEV to its driver; here `sync_event` is a
//
//     struct arrowdevice_sim_event**
//
// a pointer to a place that holds the native event, as `cudaEvent_t*` and `cl_event*` are. The native event is opaque.
#pragma once

#include <memory>

#include "sim/simulation.h"

namespace arrowdevice::sim {

// The place lives as long as the event. Throws Error(EINVAL) if `event` is not a live one.
void* publish_event(Simulation& simulation, void* event);

// Throws Error(EINVAL) for what is not a pointer to a live event, as far as one can tell without reading through it.
std::shared_ptr<Event> published_event(const Simulation& simulation, const void* sync_event);

}  // namespace arrowdevice::sim
