// SPDX-License-Identifier: Apache-2.0
// Copies of arrays to the CPU that run while the caller goes on.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include "transfer/move.h"

namespace arrowdevice::transfer {

// Receives the array on the CPU, or `source` and an error. May take the array that it receives.
using HostCopyDone = void (*)(void* user, ArrowArray* array, ArrowDeviceArray* source, const arrowdevice_error* error);

// Does the same as to_host() on a thread of the library, which then calls `done`. Takes ownership of `moved` unless it
// throws. It throws if the copy cannot be started. Uses `options.queue` in this call only.
void to_host_async(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, HostCopyDone done,
                   void* user);

}  // namespace arrowdevice::transfer
