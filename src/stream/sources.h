// SPDX-License-Identifier: Apache-2.0
// Streams of what is there already.
#pragma once

#include <arrowdevice/abi.h>

#include <span>

namespace arrowdevice::stream {

// Arrays of one schema, one after the other. Throws EINVAL for one that does not fit the schema or is on another type
// of device, and has taken nothing over then.
void from_arrays(ArrowSchema& moved, std::span<ArrowDeviceArray> moved_arrays, ArrowDeviceType type,
                 ArrowDeviceArrayStream* out);

// A stream on the CPU as a device stream.
void from_host(ArrowArrayStream& moved, ArrowDeviceArrayStream* out);

}  // namespace arrowdevice::stream
