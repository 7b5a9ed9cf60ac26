// SPDX-License-Identifier: Apache-2.0
// Tests arrays in contexts of an application and in its virtual memory, through the functions of the library. Each case
// has its own process.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>

#include "cuda/api.h"
#include "drivers/cuda/own_context.h"
#include "drivers/trips.h"
#include "support/catch.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with
using drivers::cuda::Context;
using drivers::cuda::handles_of;
using drivers::cuda::must_cuda;

// Wraps the context during `body`, which gets the wrapped device.
void with_wrapped(const Context& context, const drivers::Attempt& attempt,
                  const std::function<void(arrowdevice_device* wrapped)>& body) {
  const arrowdevice_native_device native = handles_of(context.get());
  arrowdevice_device* wrapped = nullptr;
  attempt([&](auto* error) { return arrowdevice_device_wrap(ARROW_DEVICE_CUDA, 0, &native, &wrapped, error); });
  body(wrapped);
  attempt([&](auto* error) { return arrowdevice_device_unwrap(wrapped, ARROWDEVICE_NO_TIMEOUT, error); });
}

void must_succeed(const std::function<int(arrowdevice_error*)>& call) { drivers::attempt({}, call); }

TEST_CASE("the primary context is one device, in any order of wrap and open") {
  for (const bool is_wrapped_first : {true, false}) {
    CHECK(in_child([&] {
            void* context = nullptr;
            must_cuda(call("cuInit", 0u), "cuInit");
            must_cuda(call("cuDevicePrimaryCtxRetain", &context, 0), "cuDevicePrimaryCtxRetain");
            const arrowdevice_native_device native = handles_of(context);
            arrowdevice_device *wrapped = nullptr, *got = nullptr;
            const auto wrap_it = [&](auto* error) {
              return arrowdevice_device_wrap(ARROW_DEVICE_CUDA, 0, &native, &wrapped, error);
            };
            if (is_wrapped_first) must_succeed(wrap_it);
            got = drivers::get_device(must_succeed, ARROW_DEVICE_CUDA, 0);
            if (!is_wrapped_first) must_succeed(wrap_it);
            expect(wrapped == got, "there are two");
            auto info = sized<arrowdevice_device_info>();
            must_succeed([&](auto* error) { return arrowdevice_device_get_info(got, &info, error); });
            expect((info.flags & ARROWDEVICE_DEVICE_WRAPPED) == 0, "the device with the id says that it was wrapped");
            must_succeed(
                [&](auto* error) { return arrowdevice_device_unwrap(wrapped, ARROWDEVICE_NO_TIMEOUT, error); });
            expect(arrowdevice_device_unwrap(wrapped, ARROWDEVICE_NO_TIMEOUT, nullptr) == EINVAL,
                   "it was unwrapped twice");
            drivers::move_bytes(must_succeed, got);
            drivers::trim_all();
          }) == "");
  }
}

TEST_CASE("arrays of every type survive the round trip to an application's context") {
  CHECK(in_child([] {
          const Context mine(0);
          arrowdevice_device* const primary = drivers::get_device(must_succeed, ARROW_DEVICE_CUDA, 0);
          with_wrapped(mine, must_succeed, [&](arrowdevice_device* wrapped) {
            for (const auto* const cases : {&arrowdevice::testing::all_cases(), &arrowdevice::testing::large_cases()}) {
              for (const auto& one : *cases) {
                drivers::move_array(must_succeed, one, wrapped, primary);
                drivers::move_array(must_succeed, one, primary, wrapped);
              }
            }
          });
          drivers::trim_all();
        }) == "");
}

TEST_CASE("a wrapped context uses pinned memory of an existing primary context only") {
  for (const bool has_primary : {false, true}) {
    CHECK(in_child([&] {
            const Context mine(0);
            if (has_primary) drivers::destroy_stream(0, drivers::create_stream(0));
            const int64_t before = calls("cuDevicePrimaryCtxRetain");
            with_wrapped(mine, must_succeed, [&](arrowdevice_device* wrapped) {
              for (const auto& one : arrowdevice::testing::large_cases()) {
                drivers::move_array(must_succeed, one, wrapped, wrapped);
              }
              drivers::move_bytes(must_succeed, wrapped);
            });
            expect(has_primary || calls("cuDevicePrimaryCtxRetain") == before, "the primary context was made");
            expect((calls("cuMemHostAlloc") > 0) == has_primary, "pinned memory");
            drivers::trim_all();
          }) == "");
  }
}

TEST_CASE("a failed driver call loses nothing in an application's context") {
  constexpr int64_t kMostCalls = 400;  // of an entry point that the test tries
  int failures = 0;
  for (const std::string& entry_point : drivers::entry_points()) {
    if (entry_point == "cuInit") continue;  // the application has called it
    for (int64_t n = 1; n <= kMostCalls; ++n) {
      const std::string problem = in_child([&] {
        const Context mine(0);
        const int64_t before = calls(entry_point);
        drivers::fail_nth(entry_point, n, 0);
        const std::string start = drivers::name_in_messages(entry_point) + ": ";
        const drivers::Attempt attempt = [&](const auto& call) {
          drivers::attempt({{start, ENOMEM, 2}, {start, EIO, 999}, {start, EBUSY, 999}, {start, ENODEV, 999}}, call);
        };
        with_wrapped(mine, attempt, [&](arrowdevice_device* wrapped) {
          const auto& batch = arrowdevice::testing::find_case("record batch");
          drivers::move_array(attempt, batch, wrapped, drivers::get_device(attempt, ARROW_DEVICE_CUDA, 0));
          drivers::move_bytes(attempt, wrapped);
        });
        drivers::trim_all();
        const bool is_reached = calls(entry_point) >= before + n;
        drivers::fail_no_more();
        expect(drivers::live_allocations() == 0, "allocations of the driver were lost");
        if (!is_reached) throw std::runtime_error("not reached");
      });
      if (problem == "not reached\n") break;
      ++failures;
      INFO(entry_point << ", call " << n);
      CHECK(problem == "");
    }
  }
  CHECK(failures > 100);
}

TEST_CASE("a buffer may span mappings of virtual memory, but not a hole between them") {
  CHECK(in_child([] {
          constexpr size_t kMapping = 2 << 20;
          auto* const device = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CUDA, int64_t{0});
          uint64_t range = 0;
          drivers::make_current(0);
          expect(call("cuMemAddressReserve", &range, 4 * kMapping, size_t{0}, uint64_t{0}, 0ULL) == 0, "no range");
          namespace vendor = arrowdevice::cuda;
          vendor::CUmemAllocationProp properties{};
          properties.type = vendor::CU_MEM_ALLOCATION_TYPE_PINNED;
          properties.requestedHandleTypes = vendor::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
          properties.location.type = vendor::CU_MEM_LOCATION_TYPE_DEVICE;
          const vendor::CUmemAccessDesc user{properties.location, vendor::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
          constexpr size_t kPieces[] = {0, 1, 3};
          for (const size_t piece : kPieces) {
            const uint64_t at = range + piece * kMapping;
            unsigned long long memory = 0;
            expect(call("cuMemCreate", &memory, kMapping, &properties, 0ULL) == 0, "no memory");
            expect(call("cuMemMap", at, kMapping, size_t{0}, memory, 0ULL) == 0, "not mapped");
            expect(call("cuMemRelease", memory) == 0, "not released");
            expect(call("cuMemSetAccess", at, kMapping, &user, size_t{1}) == 0, "no access");
          }
          const auto schema = arrowdevice::testing::make_schema(arrowdevice::testing::field("l"));
          const auto validate = [&](uint64_t start, size_t bytes) -> std::string {
            const void* buffers[] = {nullptr, reinterpret_cast<const void*>(start)};
            ArrowDeviceArray array{};
            array.array.length = static_cast<int64_t>(bytes / sizeof(int64_t));
            array.array.n_buffers = 2;
            array.array.buffers = buffers;
            array.array.release = [](ArrowArray* self) { self->release = nullptr; };
            array.device_type = ARROW_DEVICE_CUDA;
            arrowdevice_error error{};
            const int code =
                arrowdevice_array_validate(&array, schema.get(), device, ARROWDEVICE_VALIDATE_FULL, &error);
            return code == 0 ? "" : error.message;
          };
          expect(validate(range, 2 * kMapping).empty(), "two mappings were refused");
          expect(contains(validate(range, 2 * kMapping + 8), "its memory ends after 4194304"), "a hole was accepted");
          expect(contains(validate(range + 3 * kMapping, kMapping + 8), "its memory ends after 2097152"),
                 "memory after the range was accepted");
          for (const size_t piece : kPieces) {
            expect(call("cuMemUnmap", range + piece * kMapping, kMapping) == 0, "not unmapped");
          }
          expect(call("cuMemAddressFree", range, 4 * kMapping) == 0, "the range is in use");
          drivers::undo_make_current();
        }) == "");
}

}  // namespace
