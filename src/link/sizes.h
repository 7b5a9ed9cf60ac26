// SPDX-License-Identifier: Apache-2.0
// The sizes of an array's buffers, as both sides of a handle need them.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/deadline.h"
#include "device/device.h"
#include "device/event.h"
#include "schema/binding.h"

namespace arrowdevice::link {

// Returns the bytes of all buffers, as inspect::buffer_sizes() does. Waits for the array, and reads the last offsets
// back from a device that the CPU cannot read.
std::pmr::vector<int64_t> read_sizes(const schema::Binding& array, device::Device& device,
                                     const device::ForeignEvent& event, const Deadline& deadline,
                                     ArrowDeviceArray* moved, std::pmr::memory_resource* memory);

}  // namespace arrowdevice::link
