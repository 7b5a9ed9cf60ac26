// SPDX-License-Identifier: Apache-2.0
// Arrays change hands, and devices.
#pragma once

#include <arrowdevice/abi.h>

#include "array/options.h"
#include "device/device.h"
#include "schema/tree.h"

namespace arrowdevice::array {

// All take over `moved` on success and leave it untouched on failure.

void copy(const ArrowDeviceArray& array, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
          ArrowDeviceArray* out);
void move_to(ArrowDeviceArray& moved, const ArrowSchema& schema, device::Device& to, const CopyOptions& options,
             ArrowDeviceArray* out);
// As above, with the schema read already.
void move_to(ArrowDeviceArray& moved, const schema::Tree& tree, device::Device& to, const CopyOptions& options,
             ArrowDeviceArray* out);

// Whether such a move, even an asynchronous one, occupies its thread while devices work.
bool move_blocks(const ArrowDeviceArray& moved, device::Device& to, const CopyOptions& options);

void from_host(ArrowArray& moved, ArrowDeviceArray* out);
void to_host(ArrowDeviceArray& moved, const ArrowSchema& schema, const CopyOptions& options, ArrowArray* out);

void release_after(ArrowDeviceArray& moved, device::Queue& queue);

}  // namespace arrowdevice::array
