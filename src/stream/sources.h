// SPDX-License-Identifier: Apache-2.0
// Streams of arrays that exist already.
#pragma once

#include <arrowdevice/abi.h>

#include <span>

namespace arrowdevice::stream {

// Creates a stream of arrays of one schema. Throws EINVAL, and takes no ownership, if an array does not match the
// schema or is on another type of device.
void from_arrays(ArrowSchema& moved, std::span<ArrowDeviceArray> moved_arrays, ArrowDeviceType type,
                 ArrowDeviceArrayStream* out);

// Wraps a stream on the CPU as a device stream.
void from_host(ArrowArrayStream& moved, ArrowDeviceArrayStream* out);

}  // namespace arrowdevice::stream
