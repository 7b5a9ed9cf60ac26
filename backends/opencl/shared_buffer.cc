// SPDX-License-Identifier: Apache-2.0
#include "opencl/shared_buffer.h"

#include <cerrno>
#include <utility>

#include "base/shared_memory.h"
#include "opencl/buffer.h"
#include "opencl/query.h"

namespace arrowdevice::opencl {
namespace {

void check_is_cpu(const Device& device) {
  if (device.properties().is_cpu) return;
  throw Error(ENOTSUP,
              device.properties().name + " is no CPU: OpenCL has no memory of it that other processes can open");
}

// Makes a buffer that owns host memory. Commands and sub-buffers may use the buffer after its release, so the driver
// says when the memory is free.
cl_mem own(const Device& device, void* memory, int64_t size) {
  const auto refuse = [&](const char* call, cl_int code) {
    SharedMemory::instance().free(memory);
    throw failure(
        call, code,
        format("%lld bytes of host memory on %s", static_cast<long long>(size), device.properties().name.c_str()));
  };
  cl_int code = CL_SUCCESS;
  auto buffer = Owned<cl_mem>::wrap(api().clCreateBuffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                                         static_cast<size_t>(size), memory, &code));
  if (code != CL_SUCCESS) refuse("clCreateBuffer", code);
  code = api().clSetMemObjectDestructorCallback(
      buffer.get(), [](cl_mem, void* address) { SharedMemory::instance().free(address); }, memory);
  if (code != CL_SUCCESS) {
    buffer = {};
    refuse("clSetMemObjectDestructorCallback", code);
  }
  return OwnBuffers::instance().add(std::move(buffer), size);
}

}  // namespace

cl_mem allocate_shareable(const Device& device, int64_t size) {
  check_is_cpu(device);
  return own(device, SharedMemory::instance().allocate(size), size);
}

void describe_shareable(cl_mem buffer, arrowdevice_memory_record& out) {
  SharedMemory::instance().describe(ask_buffer<void*>(buffer, CL_MEM_HOST_PTR), out);
}

// A driver may write to the pages of a buffer, also if the program only reads.
cl_mem open_shared(const Device& device, const arrowdevice_memory_record& record, int64_t& size) {
  check_is_cpu(device);
  void* const memory = SharedMemory::instance().open(record, SharedMemory::Access::kPrivateWrites, size);
  return own(device, memory, size);
}

}  // namespace arrowdevice::opencl
