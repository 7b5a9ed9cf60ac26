// SPDX-License-Identifier: Apache-2.0
// File descriptors that tell an event loop when an array is ready.
#pragma once

#include <arrowdevice/abi.h>

#include "device/device.h"

namespace arrowdevice::array {

// Returns a new descriptor, which becomes readable when the array's event has fired or failed.
int open_eventfd(const ArrowDeviceArray& array, device::Device* named);

}  // namespace arrowdevice::array
