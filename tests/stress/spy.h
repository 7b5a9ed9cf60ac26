// SPDX-License-Identifier: Apache-2.0
// A driver that notices when it is called although it must not be: the simulated devices, linked into the program and
// registered with every function of their table watched. Like a real driver it shuts down in an exit handler that it
// registers when it is started, and is of no use in forked children. A call after either ends the process with a
// message.
#pragma once

#include <cstdint>

#include "sim/control.h"

namespace stress {

// Two devices with addresses, 0 and 1, and two with handles, 2 and 3. Registers them with the library.
void register_spy(arrowdevice::sim::Peers peers = arrowdevice::sim::Peers::kCopy);

// From now on every call is a mistake, `when` says which.
void forbid_driver_calls(const char* when);

int64_t driver_calls();

// Called by whoever asks whether an event has fired, before the driver is; what is not 0 is the answer.
void before_each_query(int (*function)());

}  // namespace stress
