// SPDX-License-Identifier: Apache-2.0
// Buffers and sub-buffers.
#pragma once

#include <cstdint>
#include <optional>

#include "opencl/device.h"

namespace arrowdevice::opencl {

// A range of bytes in a buffer that is not a sub-buffer.
struct BufferRange {
  cl_mem parent;
  size_t offset;
};

Owned<cl_mem> allocate_buffer(const Device& device, int64_t size, int64_t alignment);

// Creates a sub-buffer. If `buffer` is a sub-buffer, the result is a sub-buffer of its parent, because OpenCL allows
// only one level.
Owned<cl_mem> make_sub_buffer(cl_mem buffer, int64_t offset, int64_t size);

// Throws EINVAL if the range is not within the buffer. `region` is its number in the batch.
BufferRange resolve(cl_mem buffer, int64_t region, int64_t offset, int64_t size);

int64_t size_of(cl_mem buffer);
// Returns nullopt if the driver does not know the handle, or if it is an image or a pipe.
std::optional<int64_t> known_size(cl_mem buffer);

}  // namespace arrowdevice::opencl
