// SPDX-License-Identifier: Apache-2.0
// Arrays as tensors of DLPack. Nothing is copied.
#pragma once

#include <arrowdevice/abi.h>

#include "device/queue.h"
#include "interop/dlpack.h"

namespace arrowdevice::interop {

// A tensor that is a co-owner of the array, which stays valid; on failure it is as it was. Work queued later on
// `waiter` runs once the data is there; NULL: the CPU waits for it.
ManagedTensor* export_tensor(ArrowDeviceArray& inout, const ArrowSchema& schema, device::Queue* waiter);

}  // namespace arrowdevice::interop
