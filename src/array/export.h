// SPDX-License-Identifier: Apache-2.0
// Arrays whose buffers already are on a device become device arrays.
#pragma once

#include <arrowdevice/abi.h>

#include "device/device.h"
#include "device/queue.h"

namespace arrowdevice::array {

// `written_on` may be NULL: the data is ready.
void export_array(device::Device& device, ArrowArray& moved, device::Queue* written_on, ArrowDeviceArray* out);

// Whether such arrays carry an event of that queue. Else its work is finished first.
bool carries_events_of(const device::Device& device, const device::Queue& written_on);

// With an event that the application recorded; `event_release` may be NULL.
void export_with_event(device::Device& device, ArrowArray& moved, void* sync_event,
                       void (*event_release)(void* user, void* sync_event), void* user, ArrowDeviceArray* out);

}  // namespace arrowdevice::array
