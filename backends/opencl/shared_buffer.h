// SPDX-License-Identifier: Apache-2.0
// Buffers over host memory that other processes can map. Only CPUs use such memory in place.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>

#include "opencl/device.h"

namespace arrowdevice::opencl {

// Allocates a buffer of zeros. Throws ENOTSUP for other devices than CPUs.
cl_mem allocate_shareable(const Device& device, int64_t size);

// Describes such a buffer. Throws EINVAL for others.
void describe_shareable(cl_mem buffer, arrowdevice_memory_record& out);

// Makes a buffer over memory of another process. What this process writes to the buffer, the other does not see.
// Throws EINVAL if the memory may become smaller.
cl_mem open_shared(const Device& device, const arrowdevice_memory_record& record, int64_t& size);

}  // namespace arrowdevice::opencl
