// SPDX-License-Identifier: Apache-2.0
// Where an array is, and whether it is ready.
#pragma once

#include <arrowdevice/abi.h>

#include "base/deadline.h"
#include "device/device.h"
#include "device/queue.h"

namespace arrowdevice::array {

// Throws EINVAL for NULL or a released array.
void check_alive(const ArrowDeviceArray* array);
void check_alive(const ArrowArray* array);

// Throws EINVAL for an array with an event on a device type that has none: nobody can wait for it.
void check_event(const ArrowDeviceArray& array);

// Writes what the format leaves no choice about: zeros in `reserved`, and id -1 for the CPU.
void make_canonical(ArrowDeviceArray& array) noexcept;

// The device that an array is on: the one named by the application, else what its buffers, its event, its type and its
// id say.
device::Device& device_of(const ArrowDeviceArray& array, device::Device* named);

bool is_ready(const ArrowDeviceArray& array, device::Device* named);
void wait(const ArrowDeviceArray& array, device::Device* named, const Deadline& deadline);
void wait_on(const ArrowDeviceArray& array, device::Device* named, device::Queue& queue);

}  // namespace arrowdevice::array
