// SPDX-License-Identifier: Apache-2.0
// The simulated devices of an operation, linked into the program, and the library's log.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sim/control.h"

namespace faults {

namespace control = arrowdevice::sim::control;

// Two devices with addresses, then two with handles.
inline constexpr int64_t kAddresses[] = {0, 1};
inline constexpr int64_t kHandles[] = {2, 3};
inline constexpr int64_t kDevices = 4;

struct Machine {
  arrowdevice::sim::Peers peers = arrowdevice::sim::Peers::kCopy;
  int64_t latency_us = 0;     // work is in flight for at least this time
  bool is_registered = true;  // registers the backend before the operation begins
  bool has_pinned = false;    // device 0 copies fast from memory of the CPU device, and slowly from other host memory
  bool has_plugin = false;    // the simulation is also found as a plugin, but not if it is registered
};

// Sets up the devices in a process that has not called the library yet. `plugin` is the file of the simulation as a
// plugin.
void set_up(const Machine& machine, const char* plugin);

// Makes the devices work again. Work in flight fails, and no failure is planned. Waits until no thread is in a call of
// the backend.
void reset_devices(const Machine& machine);

// Loses the device at the nth call of the backend from now on. 0 plans nothing.
void lose_at_call(int64_t id, int64_t n);
// Forgets the plan. Returns true if the device was lost.
bool was_lost();

const char* plugin_file();
const arrowdevice_backend& backend_table();  // as it is registered

// Counts the live objects on the devices: four kinds for each device.
std::vector<int64_t> alive_on_devices();
std::string name_of_alive(size_t place);
std::string text_of_alive(const std::vector<int64_t>& alive);

// Returns true if a device was opened in this process. An open device has idle queues and cached memory.
bool were_devices_opened();

// -- the log

void log_to_test();

void forget_log();
// Return true if the library logged this after forget_log().
bool has_given_memory_up();
bool has_left_devices_out();

}  // namespace faults
