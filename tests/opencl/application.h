// SPDX-License-Identifier: Apache-2.0
// A program that uses OpenCL itself, beside the library: its contexts, queues, buffers and events, what it makes arrays
// of, and how many references its objects have.
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

// Every test begins here: the backend is registered once, nothing is pending and nothing kept.
void begin_opencl();
// Where no device is to be opened yet.
void register_opencl();
arrowdevice_device* opencl(int64_t id = 0);
// Waits until nothing is deferred, and gives back all that is kept.
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

// The references once they are as many as expected, or after a while. A driver's own threads let go of what a command
// used a little after its event has fired.
template <typename Handle>
cl_uint references_come_to(cl_uint expected, Handle handle) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (references(handle) != expected && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return references(handle);
}

// `n` bytes that differ from place to place.
Bytes pattern(size_t n, unsigned seed = 1);

// An array of the application: rows of uint8 over a buffer, which it keeps until it is released.
Array array_over(cl_mem buffer, int64_t rows, cl_event* sync_event, int64_t id = 0);
const ArrowSchema& byte_schema();
Bytes bytes_of(const ArrowArray& array);

arrowdevice_copy_region region_in(arrowdevice_device* to, void* dst, const Bytes& from);
arrowdevice_copy_region region_out(Bytes& to, arrowdevice_device* from, const void* src);

}  // namespace opencl_test
