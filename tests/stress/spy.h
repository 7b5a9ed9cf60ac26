// SPDX-License-Identifier: Apache-2.0
// A driver that detects forbidden calls: the simulated devices, linked into the program, with every table
// function watched. Like a real driver it shuts down in an exit handler that it registers at start, and is
// unusable in forked children. A call after either ends the process with a message.
#pragma once

#include <cstdint>

#include "sim/control.h"

namespace stress {

// Registers two devices with addresses, 0 and 1, and two with handles, 2 and 3.
void register_spy(arrowdevice::sim::Peers peers = arrowdevice::sim::Peers::kCopy);

// Makes every later call an error; `when` goes into the message.
void forbid_driver_calls(const char* when);

int64_t driver_calls();

// Calls `function` before each event query reaches the driver. If it returns a value other than 0, that is
// the result.
void before_each_query(int (*function)());

}  // namespace stress
