// SPDX-License-Identifier: Apache-2.0
// Tests buffers, sub-buffers and batches of copies.
#include <algorithm>

#include "drivers/opencl/application.h"
#include "opencl/buffer.h"
#include "opencl/table.h"

using namespace opencl_test;  // NOLINT

namespace {

constexpr int64_t kSize = 64'000;

// A buffer that is freed at the end.
struct DeviceBuffer {
  explicit DeviceBuffer(int64_t size = kSize) {
    must(arrowdevice_buffer_allocate, opencl(), nullptr, nullptr, size, &handle);
  }
  ~DeviceBuffer() { arrowdevice_buffer_free(opencl(), nullptr, handle); }
  DeviceBuffer(const DeviceBuffer&) = delete;

  void* handle = nullptr;
};

struct DevicePart {
  DevicePart(const void* of, int64_t offset, int64_t size) {
    must(arrowdevice_sub_buffer_create, opencl(), of, offset, size, &handle);
  }
  ~DevicePart() { arrowdevice_sub_buffer_destroy(opencl(), handle); }
  DevicePart(const DevicePart&) = delete;

  void* handle = nullptr;
};

cl_mem mem_of(const void* buffer) { return static_cast<cl_mem>(const_cast<void*>(buffer)); }

}  // namespace

TEST_CASE("a part of a part is a part of the whole") {
  begin_opencl();
  const int64_t step = describe(opencl()).sub_buffer_alignment;
  const Bytes sent = pattern(kSize);
  const DeviceBuffer buffer;
  const cl_uint before = references(mem_of(buffer.handle));
  {
    const Queue queue = make_queue(opencl());
    const auto in = region_in(opencl(), buffer.handle, sent);
    must(arrowdevice_queue_copy, queue.get(), &in, 1);
    const DevicePart part(buffer.handle, 2 * step, 20 * step);
    const DevicePart inner(part.handle, 3 * step, 4 * step);
    const DevicePart innermost(inner.handle, step, 100);
    Bytes received(90);
    auto out = region_out(received, opencl(), innermost.handle);
    out.src_offset = 10;
    must(arrowdevice_queue_copy, queue.get(), &out, 1);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    const auto* const begin = sent.data() + 6 * step + 10;
    CHECK((received == Bytes(begin, begin + 90)));
    CHECK(references_come_to(before + 3, mem_of(buffer.handle)) == before + 3);
  }
  CHECK(references_come_to(before, mem_of(buffer.handle)) == before);
}

TEST_CASE("a part may end with its buffer and go no further, and has some bytes") {
  begin_opencl();
  const int64_t step = describe(opencl()).sub_buffer_alignment;
  const DeviceBuffer buffer;
  void* none = nullptr;
  const int64_t rest = kSize % step == 0 ? 1 : kSize % step;
  const DevicePart last(buffer.handle, kSize - kSize % step, rest);
  const DevicePart all_of_last(last.handle, 0, rest);
  must_fail_saying(EINVAL, "bytes", arrowdevice_sub_buffer_create, opencl(), last.handle, 0, kSize, &none);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, opencl(), buffer.handle, 0, 0, &none);
  must_fail(EINVAL, arrowdevice_sub_buffer_create, opencl(), buffer.handle, int64_t{1}, 1, &none);
}

TEST_CASE("copies beyond the end of a buffer are refused, alone and in a batch") {
  begin_opencl();
  const DeviceBuffer buffer(1'000);
  const Queue queue = make_queue(opencl());
  Bytes bytes(4'096);
  const DevicePart part(buffer.handle, 0, 100);
  auto good = region_in(opencl(), buffer.handle, bytes);
  good.size = 10;
  auto bad = good;
  bad.dst = part.handle;
  bad.dst_offset = 95;
  const arrowdevice_copy_region batch[] = {good, bad, good};
  must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &bad, 1);
  const auto text = must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), batch, 3);
  CHECK(contains(text, "region 1: 10 bytes at offset 95 are not within a buffer of 100 bytes"));
}

TEST_CASE("copies beyond the end of an application's buffer are refused") {
  begin_opencl();
  const ClContext context = make_context();
  auto native = sized<arrowdevice_native_device>();
  native.context = context.get();
  auto* wrapped = output_of(arrowdevice_device_wrap, ARROW_DEVICE_OPENCL, int64_t{0}, &native);
  {
    const ClBuffer buffer = make_buffer(context.get(), 64);
    const Queue queue = make_queue(wrapped);
    const Bytes bytes(128);
    const auto bad = region_in(wrapped, buffer.get(), bytes);
    const auto text = must_fail(EINVAL, arrowdevice_queue_copy, queue.get(), &bad, 1);
    CHECK(contains(text, "region 0: 128 bytes at offset 0 are not within a buffer of 64 bytes"));
  }
  must(arrowdevice_device_unwrap, wrapped, int64_t{ARROWDEVICE_NO_TIMEOUT});
}

TEST_CASE("full validation refuses an array whose cl_mem is too small") {
  begin_opencl();
  constexpr int kFull = 2;
  const ClContext context = make_context();
  const ClBuffer buffer = make_buffer(context.get(), 64);
  const Array fits = array_over(buffer.get(), 64, nullptr);
  must(arrowdevice_array_validate, fits.get(), &byte_schema(), nullptr, kFull);
  const Array longer = array_over(buffer.get(), 65, nullptr);
  must_fail_saying(EINVAL, "needs 65 bytes, and its memory ends after 64", arrowdevice_array_validate, longer.get(),
                   &byte_schema(), nullptr, kFull);
  const cl_buffer_region region{0, 32};
  cl_int code = CL_SUCCESS;
  const ClBuffer half =
      ClBuffer::wrap(api().clCreateSubBuffer(buffer.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  REQUIRE(code == CL_SUCCESS);
  const Array half_fits = array_over(half.get(), 32, nullptr);
  must(arrowdevice_array_validate, half_fits.get(), &byte_schema(), nullptr, kFull);
  const Array beyond_half = array_over(half.get(), 33, nullptr);
  must_fail(EINVAL, arrowdevice_array_validate, beyond_half.get(), &byte_schema(), nullptr, kFull);
}

TEST_CASE("a batch of a thousand regions of several buffers, both ways, arrives whole") {
  begin_opencl();
  constexpr int64_t kPieces = 1'000;
  constexpr int64_t kPiece = kSize / kPieces;
  const Bytes sent = pattern(kSize);
  Bytes received(kSize);
  const DeviceBuffer buffers[3];
  const Queue queue = make_queue(opencl());
  std::vector<arrowdevice_copy_region> in;
  std::vector<arrowdevice_copy_region> both;
  for (int64_t i = 0; i < kPieces; ++i) {
    const int64_t at = (kPieces - 1 - i) * kPiece;
    in.push_back({opencl(), buffers[i % 3].handle, at, nullptr, sent.data(), i * kPiece, kPiece, 0});
    both.push_back({nullptr, received.data(), i * kPiece, opencl(), buffers[i % 3].handle, at, kPiece, 0});
    both.push_back({opencl(), buffers[(i + 1) % 3].handle, at, nullptr, sent.data(), 0, kPiece, 0});
  }
  must(arrowdevice_queue_copy, queue.get(), in.data(), static_cast<int64_t>(in.size()));
  must(arrowdevice_queue_copy, queue.get(), both.data(), static_cast<int64_t>(both.size()));
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK((received == sent));
}

TEST_CASE("regions that follow each other at one end only are copied separately") {
  begin_opencl();
  constexpr int64_t kHalf = kSize / 2;
  const Bytes sent = pattern(kSize);
  const DeviceBuffer buffer;
  const Queue queue = make_queue(opencl());
  // The host's halves are in order, and those of the buffer in reverse order. Then it is the other way round.
  for (const bool host_in_order : {true, false}) {
    CAPTURE(host_in_order);
    std::vector<arrowdevice_copy_region> in;
    for (const int64_t i : {0, 1}) {
      const int64_t at = i * kHalf, reverse = kHalf - at;
      in.push_back({opencl(), buffer.handle, host_in_order ? reverse : at, nullptr, sent.data(),
                    host_in_order ? at : reverse, kHalf, 0});
    }
    must(arrowdevice_queue_copy, queue.get(), in.data(), 2);
    Bytes received(kSize);
    const auto out = region_out(received, opencl(), buffer.handle);
    must(arrowdevice_queue_copy, queue.get(), &out, 1);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK(std::equal(received.begin(), received.begin() + kHalf, sent.begin() + kHalf));
    CHECK(std::equal(received.begin() + kHalf, received.end(), sent.begin()));
  }
}

TEST_CASE("regions that follow each other in opposite directions are copied separately") {
  begin_opencl();
  constexpr int64_t kHalf = kSize / 2;
  const Bytes there = pattern(kSize, 1);
  const Bytes here = pattern(kSize, 2);
  const DeviceBuffer buffer;
  const Queue queue = make_queue(opencl());
  // The first halves go to the device and the second halves to the host. Then it is the other way round.
  for (const bool first_to_device : {true, false}) {
    CAPTURE(first_to_device);
    const auto set_up = region_in(opencl(), buffer.handle, there);
    must(arrowdevice_queue_copy, queue.get(), &set_up, 1);
    Bytes host = here;
    const int64_t in = first_to_device ? 0 : kHalf;
    const int64_t out = kHalf - in;
    std::vector<arrowdevice_copy_region> both = {
        {opencl(), buffer.handle, in, nullptr, host.data(), in, kHalf, 0},
        {nullptr, host.data(), out, opencl(), buffer.handle, out, kHalf, 0},
    };
    if (!first_to_device) std::swap(both[0], both[1]);
    must(arrowdevice_queue_copy, queue.get(), both.data(), 2);
    Bytes received(kSize);
    const auto all = region_out(received, opencl(), buffer.handle);
    must(arrowdevice_queue_copy, queue.get(), &all, 1);
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK(std::equal(here.begin() + in, here.begin() + in + kHalf, received.begin() + in));
    CHECK(std::equal(there.begin() + out, there.begin() + out + kHalf, received.begin() + out));
    CHECK(std::equal(here.begin() + in, here.begin() + in + kHalf, host.begin() + in));
    CHECK(std::equal(there.begin() + out, there.begin() + out + kHalf, host.begin() + out));
  }
}

// The library itself skips empty batches, so this test calls the backend.
TEST_CASE("the backend accepts a batch without regions and refuses a negative number") {
  begin_opencl();
  const arrowdevice_backend& table = arrowdevice::opencl::table();
  void* device = nullptr;
  void* queue = nullptr;
  arrowdevice_error error{};
  REQUIRE(table.device_open(ARROW_DEVICE_OPENCL, 0, &device, &error) == 0);
  REQUIRE(table.queue_create(device, &queue, &error) == 0);
  CHECK(table.queue_copy(queue, nullptr, 0, &error) == 0);
  CHECK(table.queue_copy(queue, nullptr, -1, &error) == EINVAL);
  table.queue_destroy(queue);
}

TEST_CASE("host memory is read when the copy runs, not when it is enqueued") {
  begin_opencl();
  const ClContext context = make_context();
  ClEvent gate = make_user_event(context.get());
  const ClBuffer elsewhere = make_buffer(context.get(), 64);
  const Array held = array_over(elsewhere.get(), 64, gate.place());
  const DeviceBuffer buffer;
  const Queue queue = make_queue(opencl());
  Bytes sent(kSize);
  Bytes received(kSize);
  must(arrowdevice_queue_wait_array, queue.get(), held.get(), nullptr);
  std::vector<arrowdevice_copy_region> in;
  for (int64_t i = 0; i < 10; ++i) {
    in.push_back({opencl(), buffer.handle, (9 - i) * 100, nullptr, sent.data(), (9 - i) * 100, 100, 0});
  }
  must(arrowdevice_queue_copy, queue.get(), in.data(), 10);
  const auto out = region_out(received, opencl(), buffer.handle);
  must(arrowdevice_queue_copy, queue.get(), &out, 1);
  std::ranges::copy(pattern(kSize), sent.begin());
  set(gate);
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
  CHECK((Bytes(received.begin(), received.begin() + 1'000) == Bytes(sent.begin(), sent.begin() + 1'000)));
}

TEST_CASE("a buffer above the device's limit fails with ENOMEM, the call and its code") {
  begin_opencl();
  void* buffer = nullptr;
  const std::string message =
      must_fail(ENOMEM, arrowdevice_buffer_allocate, opencl(), nullptr, nullptr, int64_t{1} << 50, &buffer);
  CHECK(contains(message, "clCreateBuffer: CL_"));
  CHECK(contains(message, "bytes"));
}
