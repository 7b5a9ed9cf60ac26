// SPDX-License-Identifier: Apache-2.0
#include "opencl/buffer.h"

#include <cerrno>

#include "base/checked.h"
#include "opencl/query.h"

namespace arrowdevice::opencl {

Owned<cl_mem> allocate_buffer(const Device& device, int64_t size, int64_t alignment) {
  if (alignment > device.properties().alignment) {
    throw Error(EINVAL,
                format("buffers of %s are aligned to %lld bytes, not to %lld", device.properties().name.c_str(),
                       static_cast<long long>(device.properties().alignment), static_cast<long long>(alignment)));
  }
  cl_int code = CL_SUCCESS;
  auto buffer = Owned<cl_mem>::wrap(
      api().clCreateBuffer(device.context(), CL_MEM_READ_WRITE, static_cast<size_t>(size), nullptr, &code));
  if (code != CL_SUCCESS) {
    throw failure("clCreateBuffer", code,
                  format("%lld bytes on %s, at most %lld in one buffer", static_cast<long long>(size),
                         device.properties().name.c_str(), static_cast<long long>(device.properties().largest_buffer)));
  }
  return buffer;
}

BufferRange resolve(cl_mem buffer, int64_t offset, int64_t size) {
  const auto capacity = static_cast<int64_t>(ask_buffer<size_t>(buffer, CL_MEM_SIZE));
  if (offset < 0 || size < 0 || checked_add(offset, size) > capacity) {
    throw Error(EINVAL, format("%lld bytes at %lld of a cl_mem of %lld bytes", static_cast<long long>(size),
                               static_cast<long long>(offset), static_cast<long long>(capacity)));
  }
  auto* const parent = ask_buffer<cl_mem>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT);
  if (parent == nullptr) return {buffer, static_cast<size_t>(offset)};
  return {parent, ask_buffer<size_t>(buffer, CL_MEM_OFFSET) + static_cast<size_t>(offset)};
}

Owned<cl_mem> make_sub_buffer(cl_mem buffer, int64_t offset, int64_t size) {
  if (size <= 0) throw Error(EINVAL, "OpenCL has no sub-buffers of 0 bytes");
  if (offset < 0) throw Error(EINVAL, format("a sub-buffer at %lld", static_cast<long long>(offset)));
  cl_buffer_region region{static_cast<size_t>(offset), static_cast<size_t>(size)};
  cl_int code = CL_SUCCESS;
  const auto create = [&](cl_mem of) {
    return Owned<cl_mem>::wrap(api().clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  };
  auto sub = create(buffer);
  // A batch has a part for each column, so that it is asked only afterwards whether the buffer is itself a part.
  if (code == CL_INVALID_MEM_OBJECT && ask_buffer<cl_mem>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT) != nullptr) {
    const auto range = resolve(buffer, offset, size);
    region.origin = range.offset;
    sub = create(range.parent);
  }
  if (code != CL_SUCCESS) {
    throw failure("clCreateSubBuffer", code, format("%zu bytes at %zu", region.size, region.origin));
  }
  return sub;
}

}  // namespace arrowdevice::opencl
