// SPDX-License-Identifier: Apache-2.0
// A copy within host memory, in two passes over the structs: measure() checks them and records what there is to copy,
// and write() copies. The copy engine copies what measure() does not know.
#pragma once

#include <arrowdevice/abi.h>

#include "device/device.h"
#include "transfer/host_fields.h"

namespace arrowdevice::transfer {

// Copies the fields. Throws std::bad_alloc without memory.
void write(const HostFields& fields, const HostTotals& totals, ArrowArray* out);

// Copies an array by both, as a copy without options does. Returns false, with `out` unchanged, if the copy engine must
// make the copy.
bool copy_in_two_passes(const ArrowDeviceArray& array, const ArrowSchema& schema, const device::Device& to,
                        ArrowDeviceArray* out) noexcept;

}  // namespace arrowdevice::transfer
