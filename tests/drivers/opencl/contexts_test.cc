// SPDX-License-Identifier: Apache-2.0
// Tests foreign contexts: arrays from them, applications that wrap them, and references that remain in the
// end.
#include "drivers/opencl/application.h"

using namespace opencl_test;  // NOLINT

namespace {

constexpr size_t kContextBytes = 5'000;

void fill(cl_context context, cl_mem buffer, const Bytes& bytes) {
  const ClQueue queue = make_command_queue(context);
  REQUIRE(api().clEnqueueWriteBuffer(queue.get(), buffer, CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                                     nullptr) == CL_SUCCESS);
}

arrowdevice_native_device native_of(cl_context context, cl_device_id device = nullptr) {
  auto native = sized<arrowdevice_native_device>();
  native.context = context;
  native.device = device;
  return native;
}

arrowdevice_native_queue native_of(cl_command_queue queue) {
  auto native = sized<arrowdevice_native_queue>();
  native.queue = queue;
  return native;
}

arrowdevice_device* device_of(const ArrowDeviceArray& array) { return output_of(arrowdevice_array_get_device, &array); }

}  // namespace

TEST_CASE("an array of an unwrapped context is copied, and nothing of it is kept") {
  begin_opencl();
  const ClContext context = make_context();
  const Bytes sent = pattern(kContextBytes);
  {
    const ClBuffer buffer = make_buffer(context.get(), kContextBytes);
    fill(context.get(), buffer.get(), sent);
    ClEvent event = make_user_event(context.get());
    set(event);
    const cl_uint of_buffer = references(buffer.get());
    const cl_uint of_event = references(event.get());
    const cl_uint of_context = references(context.get());
    for (const int64_t target : {-1, 0, 1}) {
      Array array = array_over(buffer.get(), kContextBytes, event.place());
      auto* const source = device_of(*array);
      CHECK(source != opencl(0));
      CHECK((describe(source).flags & ARROWDEVICE_DEVICE_WRAPPED) != 0);
      const Array there = copy(*array, byte_schema(), target < 0 ? cpu() : opencl(target), ARROWDEVICE_COPY_ASYNC);
      const Array back = copy(*there, byte_schema(), cpu());
      CHECK((bytes_of(back->array) == sent));
      array.reset();
      settle();
      CHECK(references_come_to(of_buffer, buffer.get()) == of_buffer);
      CHECK(references_come_to(of_event, event.get()) == of_event);
      CHECK(references_come_to(of_context, context.get()) == of_context);
    }
  }
  CHECK(references_come_to(1, context.get()) == 1);
}

TEST_CASE("an array can be copied to another context, and nothing of it is kept") {
  begin_opencl();
  const ClContext context = make_context();
  {
    const ClBuffer buffer = make_buffer(context.get(), 64);
    Array array = array_over(buffer.get(), 64, nullptr);
    Sample sample(mixed_batch());
    const Array there = copy(sample, device_of(*array), ARROWDEVICE_COPY_ASYNC);
    CHECK(difference(sample, *there) == "");
  }
  settle();
  CHECK(references_come_to(1, context.get()) == 1);
}

TEST_CASE("an array of the library's own context is known as that") {
  begin_opencl();
  Sample sample(field("l"));
  for (const int64_t id : {0, 1}) {
    const Array there = copy(sample, opencl(id));
    CHECK(device_of(*there) == opencl(id));
  }
}

TEST_CASE("an array with an unknown device id is refused unless a wrapped context has it") {
  begin_opencl();
  constexpr int64_t kId = 77;
  const ClContext context = make_context();
  const ClBuffer buffer = make_buffer(context.get(), kContextBytes);
  const Bytes sent = pattern(kContextBytes);
  fill(context.get(), buffer.get(), sent);
  Array array = array_over(buffer.get(), kContextBytes, nullptr, kId);
  Array out;
  must_fail(ENODEV, arrowdevice_array_copy, array.get(), &byte_schema(), cpu(), nullptr, out.out());
  const auto native = native_of(context.get());
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, kId, &native);
  CHECK(device_of(*array) == wrapped);
  CHECK((bytes_of(copy(*array, byte_schema(), cpu())->array) == sent));
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  must_fail(ENODEV, arrowdevice_array_copy, array.get(), &byte_schema(), cpu(), nullptr, out.out());
}

TEST_CASE("unwrapping a context restores its reference counts") {
  begin_opencl();
  const ClContext context = make_context();
  const auto native = native_of(context.get(), device_id());
  arrowdevice_device* wrapped = nullptr;
  arrowdevice_device* again = nullptr;
  must(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native, &wrapped);
  CHECK(references_come_to(2, context.get()) == 2);
  must(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native, &again);
  CHECK(again == wrapped);
  CHECK(references_come_to(3, context.get()) == 3);
  must(arrowdevice_device_unwrap, again, ARROWDEVICE_NO_TIMEOUT);
  CHECK(references(context.get()) >= 2);

  auto handles = native_of(static_cast<cl_context>(nullptr));
  must(arrowdevice_device_get_native, wrapped, &handles);
  CHECK(handles.context == context.get());
  CHECK(handles.device == device_id());
  CHECK(handles.platform != nullptr);

  Sample sample(mixed_batch());
  {
    const Array there = copy(sample, wrapped, ARROWDEVICE_COPY_ASYNC);
    CHECK(device_of(*there) == wrapped);
    CHECK(difference(sample, *there) == "");
    must_fail(EBUSY, arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  }
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
  CHECK(references_come_to(1, context.get()) == 1);
  must_fail(ENODEV, arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("contexts and devices that do not belong together are not wrapped") {
  begin_opencl();
  const ClContext first = make_context(0);
  const cl_device_id both[] = {device_id(0), device_id(1)};
  REQUIRE(both[0] != both[1]);
  cl_int code = CL_SUCCESS;
  const auto shared = ClContext::wrap(api().clCreateContext(nullptr, 2, both, nullptr, nullptr, &code));
  REQUIRE(code == CL_SUCCESS);
  arrowdevice_device* wrapped = nullptr;
  auto native = native_of(nullptr, device_id());
  must_fail_saying(EINVAL, "context", arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native, &wrapped);
  native = native_of(first.get(), device_id(1));
  must_fail(EINVAL, arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 1, &native, &wrapped);
  // In a context with two devices the id or the handle chooses the device.
  native = native_of(shared.get());
  must_fail_saying(EINVAL, "2 devices", arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 5, &native, &wrapped);
  CHECK(references_come_to(1, shared.get()) == 1);
  arrowdevice_device* one = nullptr;
  arrowdevice_device* other = nullptr;
  must(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native, &one);
  must(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 1, &native, &other);
  CHECK(one != other);
  // Devices of the same context copy to each other directly.
  uint32_t reach = output_of(arrowdevice_device_get_peer_flags, one, other);
  CHECK(reach == ARROWDEVICE_PEER_COPY);
  {
    Sample sample(mixed_batch());
    const Array there = copy(sample, one, ARROWDEVICE_COPY_ASYNC);
    const Array second = copy(*there, *sample.schema, other, ARROWDEVICE_COPY_ASYNC);
    CHECK(counters(one).bytes_out > 0);
    CHECK(difference(sample, *second) == "");
  }
  must(arrowdevice_device_unwrap, one, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_device_unwrap, other, ARROWDEVICE_NO_TIMEOUT);
  settle();
  CHECK(references_come_to(1, shared.get()) == 1);
  must(arrowdevice_device_get_peer_flags, opencl(0), opencl(1), &reach);
  CHECK(reach == 0);
}

TEST_CASE("a wrapped queue runs the application's commands in between and is released") {
  begin_opencl();
  const ClContext context = make_context();
  const auto native_device = native_of(context.get());
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native_device);
  const ClQueue mine = make_command_queue(context.get());
  const cl_uint before = references(mine.get());
  {
    const ClBuffer buffer = make_buffer(context.get(), kContextBytes);
    const ClEvent gate = make_user_event(context.get());
    const auto native = native_of(mine.get());
    auto* handle = output_of(arrowdevice_queue_wrap, wrapped, &native);
    Queue queue(handle);
    const Bytes sent = pattern(kContextBytes);
    cl_event held = gate.get();
    // The application's own command is held up. It is work of the queue, so an event that is recorded
    // behind it waits.
    REQUIRE(api().clEnqueueWriteBuffer(mine.get(), buffer.get(), CL_FALSE, 0, kContextBytes, sent.data(), 1, &held,
                                       nullptr) == CL_SUCCESS);
    must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), 1'000'000);
    Bytes received(kContextBytes);
    const auto out = region_out(received, wrapped, buffer.get());
    must(arrowdevice_queue_copy, queue.get(), &out, 1);
    set(gate);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK((received == sent));
  }
  settle();
  CHECK(references_come_to(before, mine.get()) == before);
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
}

TEST_CASE("queues out of order, of another context or NULL are not wrapped") {
  begin_opencl();
  const ClContext context = make_context();
  const auto native_device = native_of(context.get());
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, 0, &native_device);
  const ClQueue unordered = make_command_queue(context.get(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const ClQueue ordered = make_command_queue(context.get());
  arrowdevice_queue* queue = nullptr;
  auto native = native_of(unordered.get());
  must_fail_saying(EINVAL, "out of order", arrowdevice_queue_wrap, wrapped, &native, &queue);
  native = native_of(ordered.get());
  must_fail_saying(EINVAL, "another context", arrowdevice_queue_wrap, opencl(), &native, &queue);
  native = native_of(static_cast<cl_command_queue>(nullptr));
  must_fail_saying(EINVAL, "default", arrowdevice_queue_wrap, wrapped, &native, &queue);
  CHECK(references_come_to(1, ordered.get()) == 1);
  must(arrowdevice_device_unwrap, wrapped, ARROWDEVICE_NO_TIMEOUT);
}
