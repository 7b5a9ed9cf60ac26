// SPDX-License-Identifier: Apache-2.0
// Device memory that other processes can open. It leaves the process as a DMA buffer.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>

#include "level_zero/device.h"

namespace arrowdevice::level_zero {

// Allocates memory of zeros. Throws ENOTSUP if the device has no such memory.
void* allocate_shareable(Device& device, int64_t size, int64_t alignment);

void describe_shareable(Device& device, const void* memory, arrowdevice_memory_record& out);

// Opens memory of another process. Device::free() closes it.
void* open_shared(Device& device, const arrowdevice_memory_record& record, int64_t& size);

}  // namespace arrowdevice::level_zero
