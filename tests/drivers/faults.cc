// SPDX-License-Identifier: Apache-2.0
// Each call of each entry point of the driver fails in turn, each in a process of its own.
#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <functional>
#include <stdexcept>

#include "drivers/vendor.h"
#include "support/cases.h"
#include "support/catch.h"
#include "support/owned.h"
#include "support/reader.h"

namespace {

using arrowdevice::testing::HostCase;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::Owned;

constexpr int64_t kMostCalls = 60;  // of one entry point that are looked at
constexpr int kUnknown = 999;
constexpr int kOutOfMemory = 2;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// A call that fails once, for the reason that was given it, and then succeeds with the same input.
void attempt(const std::string& failing, const std::function<int(arrowdevice_error*)>& call) {
  arrowdevice_error error{};
  const int code = call(&error);
  if (code == 0) return;
  const std::string message = error.message;
  expect(message.starts_with(failing + ": "), "the message does not begin with " + failing + ": " + message);
  const bool is_memory = error.native_code == kOutOfMemory;
  expect(is_memory || error.native_code == kUnknown, "native_code is " + std::to_string(error.native_code));
  expect(code == (is_memory ? ENOMEM : EIO) || code == ENODEV, "code " + std::to_string(code) + ": " + message);
  arrowdevice_error again{};
  const int second = call(&again);
  expect(second == 0, failing + " failed once, and the second try failed as well: " + again.message);
}

arrowdevice_device* device(const std::string& failing, ArrowDeviceType type, int64_t id) {
  arrowdevice_device* found = nullptr;
  attempt(failing, [&](auto* error) { return arrowdevice_device_get(type, id, &found, error); });
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

// Everything that was opened, memory for staging too. Twice, since a type that cannot be counted is left out.
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

void do_everything(const std::string& failing) {
  arrowdevice_device* const first = device(failing, drivers::vendor().device, 0);
  arrowdevice_device* const second = device(failing, drivers::vendor().device, 1);
  arrowdevice_device* const pinned = device(failing, drivers::vendor().pinned, 0);
  const HostCase& batch = arrowdevice::testing::find_case("record batch");
  move_array(failing, batch, first, second);
  move_array(failing, batch, pinned, first);
  move_array(failing, batch, first, pinned);
  move_bytes(failing, first);
  move_bytes(failing, pinned);
  int64_t free_bytes = 0;
  attempt(failing, [&](auto* error) { return arrowdevice_device_memory(first, &free_bytes, nullptr, error); });
  expect(arrowdevice_quiesce(-1, nullptr) == 0, "deferred work is not done");
  trim_all();
  expect(drivers::live_allocations() == 0,
         std::to_string(drivers::live_allocations()) + " allocations of the driver were lost");
}

// A driver that does not start is not asked again.
void refuse_to_start(const std::string& failing) {
  for (int i = 0; i < 2; ++i) {
    arrowdevice_device* found = nullptr;
    arrowdevice_error error{};
    expect(arrowdevice_device_get(drivers::vendor().device, 0, &found, &error) == ENODEV, "it started");
    expect(std::string(error.message).starts_with(failing + ": "), error.message);
  }
  expect(drivers::calls(failing) == 1, failing + " was called again");
}

TEST_CASE("nothing is lost when any call of the driver fails, and the message begins with its name") {
  int failures = 0;
  for (const std::string& entry_point : drivers::entry_points()) {
    for (int64_t n = 1; n <= kMostCalls; ++n) {
      const std::string problem = drivers::in_child([&] {
        drivers::fail_nth(entry_point, n, 0);
        const bool starts = entry_point == "cuInit" || entry_point == "hipInit" || entry_point == "hipGetDeviceCount";
        if (starts && n == 1) return refuse_to_start(entry_point);
        do_everything(entry_point);
        if (drivers::calls(entry_point) < n) throw std::runtime_error("not reached");
      });
      if (problem == "not reached\n") break;
      ++failures;
      INFO(entry_point << ", call " << n);
      CHECK(problem == "");
    }
  }
  CHECK(failures > 100);
}

TEST_CASE("a batch of a thousand columns is one allocation, one copy and one event of the driver, from a cold pool") {
  CHECK(drivers::in_child([] {
          std::vector<arrowdevice::testing::Field> columns;
          for (int i = 0; i < 1'000; ++i) columns.push_back(arrowdevice::testing::field(i % 2 == 0 ? "i" : "g"));
          const HostCase wide{"wide", arrowdevice::testing::struct_of(std::move(columns)).not_null(), {.rows = 100}};
          const auto schema = wide.schema();
          Owned<ArrowArray> array = wide.array(Ledger());
          Owned<ArrowDeviceArray> host;
          expect(arrowdevice_array_from_host(array.get(), host.out(), nullptr) == 0, "no host array");
          arrowdevice_device* const gpu = device("", drivers::vendor().device, 0);
          Owned<ArrowDeviceArray> there;
          expect(arrowdevice_array_copy(host.get(), schema.get(), gpu, nullptr, there.out(), nullptr) == 0, "no copy");
          for (const char* const call :
               {drivers::vendor().allocate_on, drivers::vendor().copy, drivers::vendor().record}) {
            const auto n = drivers::calls(call);
            expect(n == 1, std::string(call) + " was called " + std::to_string(n) + " times");
          }
          there.reset();
          trim_all();
        }) == "");
}

}  // namespace
