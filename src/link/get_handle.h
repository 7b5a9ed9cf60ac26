// SPDX-License-Identifier: Apache-2.0
// Handles of arrays for other processes.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include "transfer/move.h"

namespace arrowdevice::link {

// Makes a handle of an array, as arrowdevice_array_get_ipc_handle() does.
void get_handle(ArrowDeviceArray& inout, const ArrowSchema& schema, const transfer::CopyOptions& options,
                arrowdevice_ipc_handle* out);

}  // namespace arrowdevice::link
