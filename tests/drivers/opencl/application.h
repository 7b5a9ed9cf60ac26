// SPDX-License-Identifier: Apache-2.0
// A program that uses OpenCL itself beside the library. It has contexts, queues, buffers and events, makes
// arrays, and counts references.
#pragma once

#include <chrono>
#include <thread>

#include "opencl/handles.h"
#include "opencl/query.h"
#include "opencl/table.h"
#include "unit/library.h"

namespace opencl_test {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::opencl::api;

using Bytes = std::vector<unsigned char>;
using ClContext = arrowdevice::opencl::Owned<cl_context>;
using ClQueue = arrowdevice::opencl::Owned<cl_command_queue>;
using ClBuffer = arrowdevice::opencl::Owned<cl_mem>;
using ClEvent = arrowdevice::opencl::Owned<cl_event>;

// Begins every test: the backend is registered once, nothing is pending and nothing is cached.
void begin_opencl();
// Registers the backend without opening a device.
void register_opencl();
arrowdevice_device* opencl(int64_t id = 0);
// Waits until no work is deferred, and frees all cached memory.
void settle();

cl_device_id device_id(int64_t id = 0);
ClContext make_context(int64_t id = 0);
ClQueue make_command_queue(cl_context context, cl_command_queue_properties properties = 0);
ClBuffer make_buffer(cl_context context, size_t size);
ClEvent make_user_event(cl_context context);
void set(const ClEvent& event, cl_int status = CL_COMPLETE);

cl_uint references(cl_context context);
cl_uint references(cl_command_queue queue);
cl_uint references(cl_mem buffer);
cl_uint references(cl_event event);

// Returns the reference count when it reaches the expected value, or after a timeout. A driver's own
// threads release a command's objects a little after its event has fired.
template <typename Handle>
cl_uint references_come_to(cl_uint expected, Handle handle) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (references(handle) != expected && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return references(handle);
}

// Returns `n` bytes that differ from position to position.
Bytes pattern(size_t n, unsigned seed = 1);

// Returns an array of the application: rows of uint8 over a buffer. The array holds a reference until it is
// released.
Array array_over(cl_mem buffer, int64_t rows, cl_event* sync_event, int64_t id = 0);
const ArrowSchema& byte_schema();
Bytes bytes_of(const ArrowArray& array);

arrowdevice_copy_region region_in(arrowdevice_device* to, void* dst, const Bytes& from);
arrowdevice_copy_region region_out(Bytes& to, arrowdevice_device* from, const void* src);

}  // namespace opencl_test
