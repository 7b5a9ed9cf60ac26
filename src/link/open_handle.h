// SPDX-License-Identifier: Apache-2.0
// Arrays over the memory of another process, from handles.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>

#include "transfer/move.h"

namespace arrowdevice::link {

// Opens a handle, as arrowdevice_array_open_ipc_handle() does.
void open_handle(std::span<const uint8_t> bytes, std::span<const int> descriptors, const transfer::CopyOptions& options,
                 ArrowDeviceArray* out, ArrowSchema* out_schema);

}  // namespace arrowdevice::link
