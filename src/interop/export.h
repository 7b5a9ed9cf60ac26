// SPDX-License-Identifier: Apache-2.0
// Exports arrays as DLPack tensors without a copy.
#pragma once

#include <arrowdevice/abi.h>

#include "device/queue.h"
#include "interop/dlpack.h"

namespace arrowdevice::interop {

// Returns a tensor that is a shared owner of the array. The array stays valid, and is unchanged on failure. Later work
// on `waiter` runs after the data is ready. If `waiter` is NULL, the CPU waits for the data.
ManagedTensor* export_tensor(ArrowDeviceArray& inout, const ArrowSchema& schema, device::Queue* waiter);

}  // namespace arrowdevice::interop
