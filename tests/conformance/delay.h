// SPDX-License-Identifier: Apache-2.0
// Keeps a queue busy for some milliseconds, with a function that the device's driver offers without a compiler. A real
// driver has finished a copy of pageable memory when the call returns, so that such copies leave no pending work.
#pragma once

#include <arrowdevice/arrowdevice.h>

namespace arrowdevice::conformance {

// Returns true if delay() works for queues of this device, and leaves its other queues alone.
bool can_delay(const arrowdevice_device_info& info);

// Enqueues a wait. Throws Failure if the driver refuses it.
void delay(arrowdevice_device* device, arrowdevice_queue* queue);

}  // namespace arrowdevice::conformance
