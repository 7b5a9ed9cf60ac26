// SPDX-License-Identifier: Apache-2.0
// What a program has left when it ends, and releases in exit handlers of its own. No case can see how that goes, but
// whoever started the process: a driver, or a backend, that is called when it has shut down crashes.
//
//   left_at_exit::release_last();   // before a backend is loaded
//   ... the device is opened ...
//   left_at_exit::release_first();  // before anything else is done with it
//   left_at_exit::leave(device);
#pragma once

#include <arrowdevice/arrowdevice.h>

namespace arrowdevice::conformance::left_at_exit {

// Registers the handler that runs behind all others, when no function of a backend may be called any more: the library
// sees to that.
void release_last();

// Registers a handler that runs before those that the library and the drivers have registered so far, and in which the
// backend is called: nothing may be gone of what it uses, also if that was first made after its device was opened.
void release_first();

// Leaves to each of the two: arrays, one of them with work pending, memory, a pool that gives everything back to the
// driver at once, and a queue. What the device does not make is for the cases to tell.
void leave(arrowdevice_device* device);

}  // namespace arrowdevice::conformance::left_at_exit
