// SPDX-License-Identifier: Apache-2.0
// Tensors of DLPack as arrays. Nothing is copied.
#pragma once

#include <arrowdevice/abi.h>

#include "device/queue.h"
#include "interop/dlpack.h"

namespace arrowdevice::interop {

// Takes over `moved` on success and leaves it untouched on failure. `written_on` may be NULL: the data is there.
void import_tensor(ManagedTensor& moved, device::Queue* written_on, ArrowDeviceArray* out, ArrowSchema* out_schema);

}  // namespace arrowdevice::interop
