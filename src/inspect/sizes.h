// SPDX-License-Identifier: Apache-2.0
// The number of bytes of each buffer that an array uses.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/deadline.h"
#include "device/device.h"
#include "device/event.h"
#include "schema/binding.h"
#include "transfer/source_reader.h"

namespace arrowdevice::inspect {

inline constexpr int64_t kUnknownSize = -1;

// Returns the bytes of each field's buffers, in order. A size is kUnknownSize if it depends on data that was not read.
// `contents` is NULL if the data must not be read. `sizes_on_host` is true if the sizes of variadic buffers are in host
// memory and may be read.
std::pmr::vector<int64_t> buffer_sizes(const schema::Binding& array, transfer::SourceReader* contents,
                                       bool sizes_on_host, std::pmr::memory_resource* memory);

// Does the same with all data. Waits for the array, and reads the data back from a device that the CPU cannot read.
// `moved` is the array, or NULL if the caller keeps it alive.
std::pmr::vector<int64_t> read_buffer_sizes(const schema::Binding& array, device::Device& device,
                                            const device::ForeignEvent& event, const Deadline& deadline,
                                            ArrowDeviceArray* moved, std::pmr::memory_resource* memory);

}  // namespace arrowdevice::inspect
