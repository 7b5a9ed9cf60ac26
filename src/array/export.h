// SPDX-License-Identifier: Apache-2.0
// Exports arrays whose buffers are on a device already as device arrays.
#pragma once

#include <arrowdevice/abi.h>

#include "device/device.h"
#include "device/queue.h"

namespace arrowdevice::array {

// Exports an array that `written_on` writes. If `written_on` is NULL, the data is ready.
void export_array(device::Device& device, ArrowArray& moved, device::Queue* written_on, ArrowDeviceArray* out);

// Returns true if such arrays carry an event of that queue. Otherwise the export waits for the queue's work.
bool carries_events_of(const device::Device& device, const device::Queue& written_on);

// Exports an array with an event that the application recorded. `event_release` may be NULL.
void export_with_event(device::Device& device, ArrowArray& moved, void* sync_event,
                       void (*event_release)(void* user, void* sync_event), void* user, ArrowDeviceArray* out);

}  // namespace arrowdevice::array
