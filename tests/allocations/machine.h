// SPDX-License-Identifier: Apache-2.0
// The simulated devices of a scenario, linked into the program. Allocations of their backend count
// separately from those of the library.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <vector>

#include "sim/control.h"

namespace allocations {

// Two devices with addresses, then two with handles.
inline constexpr int64_t kAddresses[] = {0, 1};
inline constexpr int64_t kHandles[] = {2, 3};
inline constexpr int64_t kDevices = 4;

struct Machine {
  arrowdevice::sim::Peers peers = arrowdevice::sim::Peers::kCopy;
  bool is_registered = true;  // registers the backend before the scenario begins
  bool has_pinned = false;    // device 0 copies fast from memory of the CPU device, and slowly from other host memory
  bool has_plugin = false;    // the simulation is also found as a plugin, but not if it is registered
};

// Sets up the devices in a process that has not called the library yet.
void set_up(const Machine& machine, const char* plugin);

// Returns the file of the simulation as a plugin.
const char* plugin_file();

// Returns the table as it is registered.
const arrowdevice_backend& backend_table();

// Counts the live objects on the devices.
std::vector<int64_t> alive_on_devices();

// Returns true if a device was opened in this process. An open device has idle queues and cached memory.
bool were_devices_opened();

// Returns the kind of object that this element of alive_on_devices() counts.
const char* name_of_alive(size_t place);

}  // namespace allocations
