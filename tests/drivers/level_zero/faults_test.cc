// SPDX-License-Identifier: Apache-2.0
// Each call of each entry point of the driver fails in turn, each in a process of its own.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

#include "drivers/level_zero/application.h"
#include "support/cases.h"
#include "support/catch.h"
#include "support/owned.h"
#include "support/reader.h"

namespace {

using arrowdevice::testing::HostCase;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::Owned;
using drivers::in_child;
using level_zero::expect;

constexpr int64_t kMostCalls = 60;  // of one entry point that are looked at

// A call that fails once, for the reason that was given it, and then succeeds with the same input.
void attempt(const std::string& failing, const std::function<int(arrowdevice_error*)>& call) {
  arrowdevice_error error{};
  const int code = call(&error);
  if (code == 0) return;
  const std::string message = error.message;
  const bool is_memory = failing.starts_with("zeMemAlloc");
  const char* const reason =
      is_memory ? ": ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY (0x70000003)" : ": ZE_RESULT_ERROR_UNKNOWN (0x7ffffffe)";
  expect(message.starts_with(failing + reason), "the message does not begin with " + failing + reason + ": " + message);
  const int native = is_memory ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_ERROR_UNKNOWN;
  expect(error.native_code == native, "native_code is " + std::to_string(error.native_code));
  expect(code == (is_memory ? ENOMEM : EIO), "code " + std::to_string(code) + ": " + message);
  arrowdevice_error again{};
  const int second = call(&again);
  expect(second == 0, failing + " failed once, and the second try failed as well: " + again.message);
}

arrowdevice_device* device(const std::string& failing, int64_t id) {
  arrowdevice_device* found = nullptr;
  attempt(failing, [&](auto* error) { return arrowdevice_device_get(ARROW_DEVICE_ONEAPI, id, &found, error); });
  return found;
}

// Bytes by way of a queue, and memory that is given back behind it.
void move_bytes(const std::string& failing, arrowdevice_device* on) {
  arrowdevice_queue* queue = nullptr;
  void* buffer = nullptr;
  attempt(failing, [&](auto* error) { return arrowdevice_queue_create(on, &queue, error); });
  attempt(failing, [&](auto* error) { return arrowdevice_buffer_allocate(on, nullptr, queue, 64, &buffer, error); });
  const char sent[64] = "bytes";
  char received[64] = "";
  arrowdevice_copy_region in{};
  in.to = on;
  in.dst = buffer;
  in.src = sent;
  in.size = sizeof sent;
  arrowdevice_copy_region out{};
  out.from = on;
  out.src = buffer;
  out.dst = received;
  out.size = sizeof received;
  attempt(failing, [&](auto* error) { return arrowdevice_buffer_copy(queue, &in, 1, error); });
  attempt(failing, [&](auto* error) { return arrowdevice_buffer_copy(queue, &out, 1, error); });
  attempt(failing, [&](auto* error) { return arrowdevice_queue_finish(queue, -1, error); });
  expect(std::string(received) == sent, "the bytes changed");
  arrowdevice_buffer_free(on, queue, buffer);
  arrowdevice_queue_destroy(queue);
}

// An array to `there`, on to `further`, and back.
void move_array(const std::string& failing, const HostCase& one, arrowdevice_device* there,
                arrowdevice_device* further) {
  Ledger ledger;
  const auto schema = one.schema();
  Owned<ArrowArray> host = one.array(ledger);
  const auto twin = one.array(Ledger());
  Owned<ArrowDeviceArray> array;
  attempt(failing, [&](auto* error) { return arrowdevice_array_from_host(host.get(), array.out(), error); });
  arrowdevice_copy_options options{};
  options.struct_size = sizeof options;
  options.flags = ARROWDEVICE_COPY_ASYNC;
  for (arrowdevice_device* const to : {there, further}) {
    Owned<ArrowDeviceArray> next;
    attempt(failing, [&](auto* error) {
      const int code = arrowdevice_array_move_to(array.get(), schema.get(), to, &options, next.out(), error);
      expect(code == 0 || !array.released(), "a move failed and took its input");
      return code;
    });
    array = std::move(next);
  }
  arrowdevice_queue* queue = nullptr;
  attempt(failing, [&](auto* error) { return arrowdevice_queue_create(further, &queue, error); });
  attempt(failing, [&](auto* error) { return arrowdevice_array_wait_on(array.get(), nullptr, queue, error); });
  Owned<ArrowArray> back;
  attempt(failing, [&](auto* error) {
    return arrowdevice_array_to_host(array.get(), schema.get(), nullptr, back.out(), error);
  });
  arrowdevice_queue_destroy(queue);
  const auto difference = arrowdevice::testing::difference(*schema, *twin, 0, *schema, *back, 0, twin->length);
  expect(difference.empty(), "the values changed: " + difference);
  back.reset();
  attempt(failing, [](auto* error) { return arrowdevice_quiesce(-1, error); });
  expect(ledger.live() == 0, "the input was not released");
}

// Everything that was opened. Twice, since a type that cannot be counted is left out.
void trim_all() {
  arrowdevice_device* devices[16];
  int64_t count = 0;
  arrowdevice_device_list(devices, 16, &count, nullptr);
  expect(arrowdevice_device_list(devices, 16, &count, nullptr) == 0 && count <= 16, "no devices");
  for (int64_t i = 0; i < count; ++i) {
    arrowdevice_pool* pool = nullptr;
    expect(arrowdevice_device_pool(devices[i], &pool, nullptr) == 0 && arrowdevice_pool_trim(pool, nullptr) == 0,
           "a pool cannot be trimmed");
  }
}

// An application's context for a while, which the stand-in refuses to take back while anything is left in it.
void adopt(const std::string& failing) {
  auto* const context = level_zero::create_context();
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  native.context = context;
  native.device = level_zero::device(0);
  arrowdevice_device* adopted = nullptr;
  attempt(failing,
          [&](auto* error) { return arrowdevice_device_adopt(ARROW_DEVICE_ONEAPI, 7, &native, &adopted, error); });
  move_bytes(failing, adopted);
  attempt(failing, [&](auto* error) { return arrowdevice_device_retire(adopted, -1, error); });
  level_zero::ze().zeContextDestroy(context);
}

void do_everything(const std::string& failing) {
  arrowdevice_device* const first = device(failing, 0);
  arrowdevice_device* const second = device(failing, 1);
  move_array(failing, arrowdevice::testing::find_case("record batch"), first, second);
  move_bytes(failing, first);
  expect(arrowdevice_quiesce(-1, nullptr) == 0, "deferred work is not done");
  trim_all();
  expect(level_zero::live_allocations() == 0,
         std::to_string(level_zero::live_allocations()) + " allocations of the driver were lost");
}

// What an application does itself fails here as well, so that its own calls come before.
void adopt_and_retire(const std::string& failing, int64_t n) {
  level_zero::device(0);
  level_zero::fail_nth(failing, n);
  adopt(failing);
  expect(level_zero::live_allocations() == 0, "allocations of the driver were lost");
}

// The loader asks the driver twice; one that does not start is not asked again.
constexpr int64_t kStarts = 2;

void refuse_to_start(int64_t n) {
  for (int i = 0; i < 2; ++i) {
    arrowdevice_device* found = nullptr;
    arrowdevice_error error{};
    expect(arrowdevice_device_get(ARROW_DEVICE_ONEAPI, 0, &found, &error) == ENODEV, "it started");
    expect(std::string(error.message).starts_with("zeInit: ZE_RESULT_ERROR_"), error.message);
  }
  expect(level_zero::calls("zeInit") == n, "zeInit was called again");
}

// How many calls of an entry point were made to fail, each in a process of its own.
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

TEST_CASE("nothing is lost when any call of the driver fails, and the message begins with its name and code") {
  int64_t failures = 0;
  for (const std::string& entry_point : level_zero::entry_points()) {
    failures += fail_each(entry_point, [&](int64_t n) {
      level_zero::fail_nth(entry_point, n);
      if (entry_point == "zeInit" && n <= kStarts) return refuse_to_start(n);
      do_everything(entry_point);
    });
  }
  CHECK(failures > 60);
}

TEST_CASE("nothing is lost of host and shared memory when its allocation fails") {
  for (const char* const kind : {"host", "shared"}) {
    ::setenv("ARROWDEVICE_LEVEL_ZERO_MEMORY", kind, 1);
    const std::string entry_point = std::string(kind) == "host" ? "zeMemAllocHost" : "zeMemAllocShared";
    const int64_t failures = fail_each(entry_point, [&](int64_t n) {
      level_zero::fail_nth(entry_point, n);
      do_everything(entry_point);
    });
    CHECK(failures > 0);
  }
  ::unsetenv("ARROWDEVICE_LEVEL_ZERO_MEMORY");
}

TEST_CASE("an application's context is given back whole when any call of the driver fails meanwhile") {
  int64_t failures = 0;
  for (const char* const entry_point :
       {"zeCommandListCreateImmediate", "zeCommandListDestroy", "zeCommandListAppendBarrier",
        "zeCommandListAppendMemoryCopy", "zeEventPoolCreate", "zeEventPoolDestroy", "zeEventCreate", "zeEventDestroy",
        "zeEventHostReset", "zeEventQueryStatus", "zeEventHostSynchronize", "zeMemAllocDevice", "zeMemFree",
        "zeMemGetAllocProperties", "zeMemGetAddressRange"}) {
    failures += fail_each(entry_point, [&](int64_t n) { adopt_and_retire(entry_point, n); });
  }
  CHECK(failures > 10);
}

TEST_CASE("a batch of a thousand columns is one allocation, one copy and one event of the driver, from a cold pool") {
  CHECK(in_child([] {
          std::vector<arrowdevice::testing::Field> columns;
          for (int i = 0; i < 1'000; ++i) columns.push_back(arrowdevice::testing::field(i % 2 == 0 ? "i" : "g"));
          const HostCase wide{"wide", arrowdevice::testing::struct_of(std::move(columns)).not_null(), {.rows = 100}};
          const auto schema = wide.schema();
          Owned<ArrowArray> array = wide.array(Ledger());
          Owned<ArrowDeviceArray> host;
          expect(arrowdevice_array_from_host(array.get(), host.out(), nullptr) == 0, "no host array");
          arrowdevice_device* const gpu = device("", 0);
          Owned<ArrowDeviceArray> there;
          expect(arrowdevice_array_copy(host.get(), schema.get(), gpu, nullptr, there.out(), nullptr) == 0, "no copy");
          for (const char* const call :
               {"zeCommandListCreateImmediate", "zeMemAllocDevice", "zeCommandListAppendMemoryCopy",
                "zeCommandListAppendBarrier", "zeEventCreate", "zeEventHostSynchronize"}) {
            const auto n = level_zero::calls(call);
            expect(n == 1, std::string(call) + " was called " + std::to_string(n) + " times");
          }
          there.reset();
          trim_all();
        }) == "");
}

}  // namespace
