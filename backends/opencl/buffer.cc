// SPDX-License-Identifier: Apache-2.0
#include "opencl/buffer.h"

#include <cerrno>
#include <mutex>
#include <shared_mutex>

#include "base/regions.h"
#include "opencl/query.h"

namespace arrowdevice::opencl {
namespace {

int64_t size_of(cl_mem buffer) { return static_cast<int64_t>(ask_buffer<size_t>(buffer, CL_MEM_SIZE)); }

// Asks the driver for the position of a buffer in its parent.
BufferRange ask_range(cl_mem buffer) {
  auto* const parent = ask_buffer<cl_mem>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT);
  if (parent == nullptr) return {buffer, 0};
  return {parent, ask_buffer<size_t>(buffer, CL_MEM_OFFSET)};
}

}  // namespace

OwnBuffers& OwnBuffers::instance() {
  static auto& buffers = *new OwnBuffers;
  return buffers;
}

cl_mem OwnBuffers::add(Owned<cl_mem> buffer, const Known& known) {
  const std::unique_lock lock(mutex_);
  buffers_.insert_or_assign(buffer.get(), known);
  return buffer.take();
}

// Removes the buffer first, because the driver may reuse the handle as soon as it is released.
void OwnBuffers::release(cl_mem buffer) noexcept {
  {
    const std::unique_lock lock(mutex_);
    buffers_.erase(buffer);
  }
  Counting<cl_mem>::release(buffer);
}

cl_mem OwnBuffers::allocate(const Device& device, int64_t size, int64_t alignment) {
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
  // NVIDIA's driver creates a buffer of any size.
  if (const int64_t all = device.properties().total_memory; size > all) {
    throw Error(ENOMEM, format("%lld bytes on %s, which has %lld", static_cast<long long>(size),
                               device.properties().name.c_str(), static_cast<long long>(all)));
  }
  return add(std::move(buffer), size);
}

cl_mem OwnBuffers::add(Owned<cl_mem> buffer, int64_t size) {
  const Known known{{buffer.get(), 0}, size};
  return add(std::move(buffer), known);
}

std::optional<int64_t> known_size(cl_mem buffer) {
  cl_mem_object_type type = 0;
  const cl_int code = api().clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (code == CL_INVALID_MEM_OBJECT) return std::nullopt;
  check("clGetMemObjectInfo", code);
  return type == CL_MEM_OBJECT_BUFFER ? std::optional(size_of(buffer)) : std::nullopt;
}

BufferRange OwnBuffers::Reader::resolve(cl_mem buffer, int64_t region, int64_t offset, int64_t size) {
  const auto found = own_.buffers_.find(buffer);
  BufferRange range{};
  if (found != own_.buffers_.end()) {
    check_region_bounds(region, offset, size, found->second.size);
    range = found->second.range;
  } else {
    lock_.unlock();
    check_region_bounds(region, offset, size, size_of(buffer));
    range = ask_range(buffer);
    lock_.lock();
  }
  return {range.parent, range.offset + static_cast<size_t>(offset)};
}

cl_mem OwnBuffers::make_sub_buffer(cl_mem buffer, int64_t offset, int64_t size) {
  if (size <= 0) throw Error(EINVAL, "OpenCL has no sub-buffers of 0 bytes");
  if (offset < 0) throw Error(EINVAL, format("a sub-buffer at %lld", static_cast<long long>(offset)));
  cl_buffer_region region{static_cast<size_t>(offset), static_cast<size_t>(size)};
  cl_int code = CL_SUCCESS;
  const auto create = [&](cl_mem of) {
    return Owned<cl_mem>::wrap(api().clCreateSubBuffer(of, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  };
  auto* parent = buffer;
  auto sub = create(parent);
  // A batch has a sub-buffer for each column. To save a query, the code checks only after this failure if the buffer is
  // a sub-buffer itself.
  if (code == CL_INVALID_MEM_OBJECT && ask_buffer<cl_mem>(buffer, CL_MEM_ASSOCIATED_MEMOBJECT) != nullptr) {
    if (size > size_of(buffer) || offset > size_of(buffer) - size) {
      throw Error(EINVAL, format("a sub-buffer of %lld bytes at offset %lld is not within a sub-buffer of %lld bytes",
                                 static_cast<long long>(size), static_cast<long long>(offset),
                                 static_cast<long long>(size_of(buffer))));
    }
    const auto range = ask_range(buffer);
    region.origin += range.offset;
    parent = range.parent;
    sub = create(parent);
  }
  if (code != CL_SUCCESS) {
    throw failure("clCreateSubBuffer", code, format("%zu bytes at %zu", region.size, region.origin));
  }
  return add(std::move(sub), {{parent, region.origin}, size});
}

}  // namespace arrowdevice::opencl
