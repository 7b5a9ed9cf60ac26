// SPDX-License-Identifier: Apache-2.0
// Each call of each entry point of the driver fails in turn in the first use of devices and in wrapped contexts. Each
// failure has its own process. tests/faults has the other operations.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdio>

#include "drivers/level_zero/application.h"
#include "drivers/trips.h"
#include "support/catch.h"

namespace {

using namespace drivers;  // NOLINT: what every line of these tests is written with

constexpr int64_t kMostCalls = 60;  // of an entry point that the test tries

Attempt attempt_while(const std::string& failing) {
  drivers::Failure failure{failing + ": ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe)", EIO, ZE_RESULT_ERROR_UNKNOWN};
  if (failing.starts_with("zeMemAlloc")) {
    failure = {failing + ": ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)", ENOMEM,
               ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY};
  }
  drivers::Failure unknown = failure;  // while the library asks for the state of work
  unknown.code = EBUSY;
  return [failure, unknown](const auto& call) { drivers::attempt({failure, unknown}, call); };
}

// Wraps an application's context as device 7 during `body`. The stand-in refuses to destroy the context
// while objects are left in it.
void with_wrapped(uint32_t ordinal, const Attempt& attempt,
                  const std::function<void(arrowdevice_device* wrapped)>& body) {
  auto* const context = level_zero::create_context();
  auto native = sized<arrowdevice_native_device>();
  native.context = context;
  native.device = level_zero::device(ordinal);
  arrowdevice_device* wrapped = nullptr;
  attempt([&](auto* error) { return arrowdevice_device_wrap(ARROW_DEVICE_ONEAPI, 7, &native, &wrapped, error); });
  body(wrapped);
  attempt([&](auto* error) { return arrowdevice_device_unwrap(wrapped, ARROWDEVICE_NO_TIMEOUT, error); });
  level_zero::ze().zeContextDestroy(context);
}

void wrap(const Attempt& attempt) {
  with_wrapped(0, attempt, [&](arrowdevice_device* wrapped) { drivers::move_bytes(attempt, wrapped); });
}

void use_devices(const std::string& failing) {
  const Attempt attempt = attempt_while(failing);
  arrowdevice_device* const first = drivers::get_device(attempt, ARROW_DEVICE_ONEAPI, 0);
  arrowdevice_device* const second = drivers::get_device(attempt, ARROW_DEVICE_ONEAPI, 1);
  for (arrowdevice_device* const device : {first, second}) drivers::move_bytes(attempt, device);
  drivers::trim_all();
  expect(level_zero::live_allocations() == 0,
         std::to_string(level_zero::live_allocations()) + " allocations of the driver were lost");
}

// Wraps and unwraps a context. The application's own calls come first, because they could fail too.
void wrap_and_unwrap(const std::string& failing, int64_t n) {
  level_zero::device(0);
  level_zero::fail_nth(failing, n);
  wrap(attempt_while(failing));
  expect(level_zero::live_allocations() == 0, "allocations of the driver were lost");
}

// Returns the number of calls that the loader itself makes of an entry point until zeInit has succeeded. It
// calls zeInit twice. Loaders from 1.20 also query the properties by which they sort drivers.
int64_t calls_of_loader(const std::string& entry_point) {
  const std::string said = in_child([&] {
    level_zero::ze();
    throw std::runtime_error(std::to_string(level_zero::calls(entry_point)));
  });
  return std::stoll(said);
}

// Returns true if zeInit failed. Some loaders fail zeInit if a call of their own fails, others ignore that.
bool is_refused() {
  arrowdevice_device* found = nullptr;
  return arrowdevice_device_find_by_id(ARROW_DEVICE_ONEAPI, 0, &found, nullptr) == ENODEV;
}

// Checks that the library does not try a driver again that did not start.
void refuse_to_start(const std::string& entry_point, int64_t n) {
  for (int i = 0; i < 2; ++i) {
    arrowdevice_device* found = nullptr;
    arrowdevice_error error{};
    expect(arrowdevice_device_find_by_id(ARROW_DEVICE_ONEAPI, 0, &found, &error) == ENODEV, "it started");
    expect(std::string(error.message).starts_with("zeInit: ZE_RESULT_ERROR_"), error.message);
  }
  expect(entry_point != "zeInit" || level_zero::calls(entry_point) == n, "zeInit was called again");
}

// Makes each call of an entry point fail in its own process. Returns the number of failures.
int64_t fail_each(const std::string& entry_point, const std::function<void(int64_t n)>& body) {
  for (int64_t n = 1; n <= kMostCalls; ++n) {
    const std::string problem = in_child([&] {
      body(n);
      if (level_zero::calls(entry_point) < n) throw std::runtime_error("not reached");
    });
    if (problem == "not reached\n") return n - 1;
    INFO(entry_point << ", call " << n);
    CHECK(problem == "");
  }
  return kMostCalls;
}

TEST_CASE("a failed driver call loses nothing, and its message begins with name and code") {
  int64_t failures = 0;
  for (const std::string& entry_point : level_zero::entry_points()) {
    const int64_t of_loader = calls_of_loader(entry_point);
    failures += fail_each(entry_point, [&](int64_t n) {
      level_zero::fail_nth(entry_point, n);
      if (n <= of_loader && (entry_point == "zeInit" || is_refused())) return refuse_to_start(entry_point, n);
      use_devices(entry_point);
    });
  }
  std::printf("%lld calls of the driver failed in turn\n", static_cast<long long>(failures));
  CHECK(failures > 30);
}

TEST_CASE("unwrapping leaves nothing in a context in which any driver call failed") {
  int64_t failures = 0;
  for (const char* const entry_point :
       {"zeCommandListCreateImmediate", "zeCommandListDestroy", "zeCommandListAppendBarrier",
        "zeCommandListAppendMemoryCopy", "zeEventPoolCreate", "zeEventPoolDestroy", "zeEventCreate", "zeEventDestroy",
        "zeEventHostReset", "zeEventQueryStatus", "zeEventHostSynchronize", "zeMemAllocDevice", "zeMemFree",
        "zeMemGetAllocProperties", "zeMemGetAddressRange"}) {
    failures += fail_each(entry_point, [&](int64_t n) { wrap_and_unwrap(entry_point, n); });
  }
  std::printf("%lld calls in wrapped contexts failed in turn\n", static_cast<long long>(failures));
  CHECK(failures > 10);
}

// Without staging memory, a copy to the host is slower and succeeds.
TEST_CASE("moves of arrays lose nothing if any call for their memory fails") {
  int64_t failures = 0;
  for (const char* const entry_point : {"zeMemAllocHost", "zeMemFree", "zeMemGetAllocProperties",
                                        "zeMemGetAddressRange", "zeCommandListAppendMemoryCopy"}) {
    failures += fail_each(entry_point, [&](int64_t n) {
      const Attempt attempt = attempt_while(entry_point);
      const Attempt succeed = [](const auto& call) { drivers::attempt({}, call); };
      arrowdevice_device* const first = drivers::get_device(succeed, ARROW_DEVICE_ONEAPI, 0);
      arrowdevice_device* const second = drivers::get_device(succeed, ARROW_DEVICE_ONEAPI, 1);
      level_zero::fail_nth(entry_point, n);
      drivers::move_array(attempt, arrowdevice::testing::find_case("record batch"), first, second);
      drivers::trim_all();
      expect(level_zero::live_allocations() == 0, "allocations of the driver were lost");
    });
  }
  std::printf("%lld calls for memory failed in turn\n", static_cast<long long>(failures));
  CHECK(failures > 15);
}

TEST_CASE("an array on a wrapped device is valid, whatever id the application gave that") {
  CHECK(in_child([] {
          const Attempt succeed = [](const auto& call) { drivers::attempt({}, call); };
          with_wrapped(1, succeed, [](arrowdevice_device* wrapped) {
            drivers::check_valid(arrowdevice::testing::find_case("record batch"), wrapped, {7});
          });
          drivers::trim_all();
        }) == "");
}

TEST_CASE("a thousand columns cost one allocation, one copy and one event from a cold pool") {
  CHECK(in_child([] {
          auto* gpu = output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_ONEAPI, 0);
          drivers::copy_thousand_columns(
              gpu,
              {"zeCommandListCreateImmediate", "zeMemAllocDevice", "zeCommandListAppendMemoryCopy",
               "zeCommandListAppendBarrier", "zeEventCreate", "zeEventHostSynchronize"},
              level_zero::calls);
          drivers::trim_all();
        }) == "");
}

}  // namespace
