// SPDX-License-Identifier: Apache-2.0
// Buffers and parts of them.
#pragma once

#include <cstdint>
#include <optional>

#include "opencl/device.h"

namespace arrowdevice::opencl {

// A range of bytes of a buffer that is no part of another one.
struct BufferRange {
  cl_mem parent;
  size_t offset;
};

Owned<cl_mem> allocate_buffer(const Device& device, int64_t size, int64_t alignment);

// A part may be of a part: OpenCL allows only one level, so that it becomes one of the parent.
Owned<cl_mem> make_sub_buffer(cl_mem buffer, int64_t offset, int64_t size);

// Throws EINVAL for a range that is not within the buffer. `region` is its number in the batch.
BufferRange resolve(cl_mem buffer, int64_t region, int64_t offset, int64_t size);

int64_t size_of(cl_mem buffer);
// nullopt if the driver does not know the handle, or knows it as an image or a pipe.
std::optional<int64_t> known_size(cl_mem buffer);

}  // namespace arrowdevice::opencl
