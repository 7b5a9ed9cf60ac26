// SPDX-License-Identifier: Apache-2.0
// A vendor's driver under test. If $FAULTS_DRIVER names a backend, operations use the devices of that
// backend instead of the simulated ones. $FAULTS_LIBRARY is the library that the backend calls. The test
// controls that library through the functions of drivers/machine/control.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "faults/operation.h"

namespace faults::driver {

bool is_used();

// Opens the devices in a process that has not called arrowdevice yet.
void set_up();

// Returns false if the operation needs the simulation or a device that the backend does not have.
bool can_play(const Operation& operation);

// Devices have the numbers of the simulated ones.
const std::vector<int64_t>& devices();
arrowdevice_device* device(int64_t id);

// The calls that can fail.
const std::vector<std::string>& calls();
int64_t count(const std::string& call);
int64_t failures();
void fail_nth(const std::string& call, int64_t n);
void fail_no_more();

// Drops an idle queue of each device, because a copy that fails destroys its queue.
void drop_idle_queues();

// Counts the live objects on all devices, in the order of alive_on_devices().
std::vector<int64_t> alive();

// Returns true if the operation may succeed although this call has failed.
bool may_survive(const Operation& operation, const std::string& call);
// Returns true if the error says that this call has failed.
bool is_told(const std::string& call, int code, const arrowdevice_error& error);

}  // namespace faults::driver
