// SPDX-License-Identifier: Apache-2.0
// Imports DLPack tensors as arrays without a copy.
#pragma once

#include <arrowdevice/abi.h>

#include "device/queue.h"
#include "interop/dlpack.h"

namespace arrowdevice::interop {

// Takes ownership of `moved` on success and leaves it unchanged on failure. If `written_on` is NULL, the data is ready.
// `out_schema` may be NULL.
void import_tensor(ManagedTensor& moved, device::Queue* written_on, ArrowDeviceArray* out, ArrowSchema* out_schema);

}  // namespace arrowdevice::interop
