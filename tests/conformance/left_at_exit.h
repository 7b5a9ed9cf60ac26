// SPDX-License-Identifier: Apache-2.0
// Leaves objects that live until the program ends, and releases them in exit handlers. No case sees the
// result, because a driver or a backend that is called after its shutdown crashes the process. The parent
// process sees the crash.
//
//   left_at_exit::release_last();   // before a backend is loaded
//   ... the device is opened ...
//   left_at_exit::release_first();  // before any other use of the device
//   left_at_exit::leave(device);
#pragma once

#include <arrowdevice/arrowdevice.h>

namespace arrowdevice::conformance::left_at_exit {

// Registers the handler that runs after all others. No function of a backend may be called at that time. The
// library ensures this.
void release_last();

// Registers a handler that runs before the handlers that the library and the drivers have registered so far.
// The handler calls the backend. All objects that the backend uses must still exist, even objects that were
// created after the device was opened.
void release_first();

// Leaves the same set of objects to each of the two handlers: a finished array, an array with pending work,
// memory, a pool that never caches, and a queue. Skips objects that the device fails to create, because the
// cases report such failures.
void leave(arrowdevice_device* device);

}  // namespace arrowdevice::conformance::left_at_exit
