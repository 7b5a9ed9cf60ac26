// SPDX-License-Identifier: Apache-2.0
#include "drivers/opencl/application.h"

namespace opencl_test {

using arrowdevice::opencl::ask_buffer;
using arrowdevice::opencl::ask_event;
using arrowdevice::opencl::ask_queue;

namespace {

struct Producer {
  ClBuffer buffer;
  const void* buffers[2];
};

void release_array(ArrowArray* array) {
  delete static_cast<Producer*>(array->private_data);
  array->release = nullptr;
}

}  // namespace

void register_opencl() {
  begin();
  static const bool registered = arrowdevice_backend_register(&arrowdevice::opencl::table(), nullptr) == 0;
  REQUIRE(registered);
}

void begin_opencl() {
  register_opencl();
  settle();
}

arrowdevice_device* opencl(int64_t id) { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_OPENCL, id); }

void settle() {
  must(arrowdevice_wait_idle, 60'000'000'000);
  for (const int64_t id : {0, 1}) must(arrowdevice_pool_trim, default_pool(opencl(id)));
}

cl_device_id device_id(int64_t id) {
  auto native = output_of(arrowdevice_device_get_native, opencl(id));
  return static_cast<cl_device_id>(native.device);
}

ClContext make_context(int64_t id) {
  const cl_device_id device = device_id(id);
  cl_int code = CL_SUCCESS;
  auto context = ClContext::wrap(api().clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  REQUIRE(code == CL_SUCCESS);
  return context;
}

ClQueue make_command_queue(cl_context context, cl_command_queue_properties properties) {
  cl_int code = CL_SUCCESS;
  auto queue = ClQueue::wrap(
      api().clCreateCommandQueue(context, arrowdevice::opencl::devices_of(context).front(), properties, &code));
  REQUIRE(code == CL_SUCCESS);
  return queue;
}

ClBuffer make_buffer(cl_context context, size_t size) {
  cl_int code = CL_SUCCESS;
  auto buffer = ClBuffer::wrap(api().clCreateBuffer(context, CL_MEM_READ_WRITE, size, nullptr, &code));
  REQUIRE(code == CL_SUCCESS);
  return buffer;
}

ClEvent make_user_event(cl_context context) {
  cl_int code = CL_SUCCESS;
  auto event = ClEvent::wrap(api().clCreateUserEvent(context, &code));
  REQUIRE(code == CL_SUCCESS);
  return event;
}

void set(const ClEvent& event, cl_int status) {
  REQUIRE(api().clSetUserEventStatus(event.get(), status) == CL_SUCCESS);
}

cl_uint references(cl_context context) {
  return arrowdevice::opencl::query<cl_uint>("clGetContextInfo", api().clGetContextInfo, context,
                                             cl_context_info{CL_CONTEXT_REFERENCE_COUNT});
}
cl_uint references(cl_command_queue queue) { return ask_queue<cl_uint>(queue, CL_QUEUE_REFERENCE_COUNT); }
cl_uint references(cl_mem buffer) { return ask_buffer<cl_uint>(buffer, CL_MEM_REFERENCE_COUNT); }
cl_uint references(cl_event event) { return ask_event<cl_uint>(event, CL_EVENT_REFERENCE_COUNT); }

Bytes pattern(size_t n, unsigned seed) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>((i * 7 + seed * 31) % 251);
  return bytes;
}

Array array_over(cl_mem buffer, int64_t rows, cl_event* sync_event, int64_t id) {
  auto* const producer = new Producer{ClBuffer::share(buffer), {nullptr, buffer}};
  ArrowDeviceArray array{};
  array.array.length = rows;
  array.array.n_buffers = 2;
  array.array.buffers = producer->buffers;
  array.array.private_data = producer;
  array.array.release = release_array;
  array.device_type = ARROW_DEVICE_OPENCL;
  array.device_id = id;
  array.sync_event = sync_event;
  return Array(array);
}

const ArrowSchema& byte_schema() {
  static const auto& schema = *new Owned<ArrowSchema>(make_schema(field("C")));
  return *schema;
}

Bytes bytes_of(const ArrowArray& array) {
  const auto* const begin = static_cast<const unsigned char*>(array.buffers[1]) + array.offset;
  return {begin, begin + array.length};
}

arrowdevice_copy_region region_in(arrowdevice_device* to, void* dst, const Bytes& from) {
  return {to, dst, 0, nullptr, from.data(), 0, static_cast<int64_t>(from.size()), 0};
}

arrowdevice_copy_region region_out(Bytes& to, arrowdevice_device* from, const void* src) {
  return {nullptr, to.data(), 0, from, src, 0, static_cast<int64_t>(to.size()), 0};
}

}  // namespace opencl_test
