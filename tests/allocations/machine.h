// SPDX-License-Identifier: Apache-2.0
// The devices of a scenario: simulated ones, linked into the program, whose backend's own allocations are told apart
// from those of the library.
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
  bool is_registered = true;  // the backend, before the scenario begins
  bool has_pinned = false;    // device 0 copies fast from the memory of the CPU, and slowly from other host memory
  bool has_plugin = false;    // the simulation is found as a plugin, too: not where it is registered
};

// In a process that has not called the library.
void set_up(const Machine& machine, const char* plugin);

// Of the simulation as a plugin.
const char* plugin_file();

// The table as it is registered.
const arrowdevice_backend& backend_table();

// What is alive on the devices.
std::vector<int64_t> alive_on_devices();

// Whether one of them was opened in this process: it keeps queues, and memory.
bool were_devices_opened();

// What a number of these is of.
const char* name_of_alive(size_t place);

}  // namespace allocations
