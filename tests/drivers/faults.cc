// SPDX-License-Identifier: Apache-2.0
// Each call of each entry point of the driver fails in turn in the first use of devices. Each failure has its own
// process. tests/faults has the other operations.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdio>

#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"

namespace {

using drivers::expect;
using drivers::output_of;

constexpr int64_t kMostCalls = 400;  // of an entry point that the test tries
constexpr int kUnknown = 999;
constexpr int kOutOfMemory = 2;

void use_devices(const std::string& failing) {
  const std::string start = drivers::name_in_messages(failing) + ": ";
  const drivers::Attempt attempt = [&](const auto& call) {
    drivers::attempt({{start, ENOMEM, kOutOfMemory},
                      {start, EIO, kUnknown},
                      {start, EBUSY, kUnknown},  // while the library asks for the state of work
                      {start, ENODEV, kUnknown},
                      {start, ENODEV, kOutOfMemory}},
                     call);
  };
  const auto& vendor = drivers::vendor();
  arrowdevice_device* const first = drivers::get_device(attempt, vendor.device, 0);
  arrowdevice_device* const second = drivers::get_device(attempt, vendor.device, 1);
  arrowdevice_device* const pinned = drivers::get_device(attempt, vendor.pinned, 0);
  for (arrowdevice_device* const device : {first, second, pinned}) drivers::move_bytes(attempt, device);
  int64_t free_bytes = 0;
  attempt([&](auto* error) { return arrowdevice_device_get_memory_info(first, &free_bytes, nullptr, error); });
  drivers::trim_all();
  expect(drivers::live_allocations() == 0,
         std::to_string(drivers::live_allocations()) + " allocations of the driver were lost");
}

// Checks that the library does not try a driver again that did not start.
void refuse_to_start(const std::string& failing) {
  for (int i = 0; i < 2; ++i) {
    arrowdevice_device* found = nullptr;
    arrowdevice_error error{};
    expect(arrowdevice_device_find_by_id(drivers::vendor().device, 0, &found, &error) == ENODEV, "it started");
    expect(std::string(error.message).starts_with(failing + ": "), error.message);
  }
  expect(drivers::calls(failing) == 1, failing + " was called again");
}

TEST_CASE("a failed driver call loses nothing, and the message begins with its name") {
  int failures = 0;
  for (const std::string& entry_point : drivers::entry_points()) {
    for (int64_t n = 1; n <= kMostCalls; ++n) {
      const std::string problem = drivers::in_child([&] {
        drivers::fail_nth(entry_point, n, 0);
        const bool starts = entry_point == "cuInit" || entry_point == "hipInit" || entry_point == "hipGetDeviceCount";
        if (starts && n == 1) return refuse_to_start(entry_point);
        use_devices(entry_point);
        if (drivers::calls(entry_point) < n) throw std::runtime_error("not reached");
      });
      if (problem == "not reached\n") break;
      ++failures;
      INFO(entry_point << ", call " << n);
      CHECK(problem == "");
    }
  }
  std::printf("%d calls of the driver failed in turn\n", failures);
  CHECK(failures > 100);
}

TEST_CASE("an array in pinned memory may name its device 0 or -1") {
  CHECK(drivers::in_child([] {
          arrowdevice_device* pinned = nullptr;
          expect(arrowdevice_device_find_by_id(drivers::vendor().pinned, 0, &pinned, nullptr) == 0, "no pinned memory");
          drivers::check_valid(arrowdevice::testing::find_case("record batch"), pinned, {0, -1});
          drivers::trim_all();
        }) == "");
}

// Reads a stream on `type` whose batch is in memory of another type.
std::string stream_problem(ArrowDeviceType type, ArrowDeviceType memory) {
  return drivers::in_child([&] {
    auto* const gpu = output_of(arrowdevice_device_find_by_id, drivers::vendor().device, 0);
    auto* const place = output_of(arrowdevice_device_find_by_id, memory, 0);
    drivers::check_stream(arrowdevice::testing::find_case("record batch"), place, type, gpu);
    drivers::trim_all();
  });
}

TEST_CASE("streams of a GPU and of the CPU may have batches in pinned and managed memory") {
  const auto& vendor = drivers::vendor();
  std::vector<ArrowDeviceType> shared{vendor.pinned};
  if (vendor.device == ARROW_DEVICE_CUDA) shared.push_back(ARROW_DEVICE_CUDA_MANAGED);
  for (const ArrowDeviceType memory : shared) {
    CHECK(stream_problem(vendor.device, memory) == "");
    CHECK(stream_problem(ARROW_DEVICE_CPU, memory) == "");
  }
  CHECK(drivers::contains(stream_problem(ARROW_DEVICE_CPU, vendor.device), "whose memory a stream on cpu cannot have"));
  CHECK(drivers::contains(stream_problem(vendor.pinned, vendor.device), "cannot have"));
}

TEST_CASE("a thousand columns cost one allocation, one copy and one event from a cold pool") {
  CHECK(drivers::in_child([] {
          const auto& vendor = drivers::vendor();
          auto* gpu = output_of(arrowdevice_device_find_by_id, vendor.device, 0);
          drivers::copy_thousand_columns(gpu, {vendor.allocate_on, vendor.copy, vendor.record}, drivers::calls);
          drivers::trim_all();
        }) == "");
}

}  // namespace
