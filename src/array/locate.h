// SPDX-License-Identifier: Apache-2.0
// Finds the device of an array, and checks if the array is ready.
#pragma once

#include <arrowdevice/abi.h>

#include "base/deadline.h"
#include "device/device.h"
#include "device/queue.h"

namespace arrowdevice::array {

// Throws EINVAL for NULL or a released array.
void check_alive(const ArrowDeviceArray* array);
void check_alive(const ArrowArray* array);

// Throws EINVAL for an array with an event on a device type without events, because no function can wait for it.
void check_event(const ArrowDeviceArray& array);

// Throws EINVAL if devices of a stream's type cannot access the array's memory. An array without buffers has none.
void check_accessible(const ArrowDeviceArray& array, ArrowDeviceType stream);

// Writes the values that the format fixes: zeros in `reserved`, and id -1 for the CPU.
void make_canonical(ArrowDeviceArray& array) noexcept;

// Returns the device that an array is on. The application may name it; otherwise the array's buffers, event, type and
// id determine it.
device::Device& device_of(const ArrowDeviceArray& array, device::Device* named);

bool is_ready(const ArrowDeviceArray& array, device::Device* named);
void wait(const ArrowDeviceArray& array, device::Device* named, const Deadline& deadline);
void wait_on(const ArrowDeviceArray& array, device::Device* named, device::Queue& queue);

}  // namespace arrowdevice::array
