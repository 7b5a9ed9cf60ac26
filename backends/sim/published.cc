// SPDX-License-Identifier: Apache-2.0
#include "sim/published.h"

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace arrowdevice::sim {

void* publish_event(Simulation& simulation, void* event) { return simulation.events.cell(event); }

std::shared_ptr<Event> published_event(const Simulation& simulation, const void* sync_event) {
  // Rejects a handle in place of a pointer to it, which is a common mistake, because a read through it would crash.
  if (is_handle(sync_event)) throw Error(EINVAL, format("sync_event %p is an event, not a pointer to one", sync_event));
  if (reinterpret_cast<uintptr_t>(sync_event) % alignof(void*) != 0) {
    throw Error(EINVAL, format("sync_event %p is not aligned to a pointer", sync_event));
  }
  simulation.devices.check_host(sync_event);
  return simulation.events.get(*static_cast<void* const*>(sync_event));
}

}  // namespace arrowdevice::sim
