// SPDX-License-Identifier: Apache-2.0
#include "drivers/trips.h"

#include <algorithm>

#include "support/in_child.h"
#include "support/reader.h"

namespace drivers {
namespace {

using arrowdevice::testing::expect;
using arrowdevice::testing::HostCase;
using arrowdevice::testing::Ledger;
using arrowdevice::testing::output_of;
using arrowdevice::testing::Owned;
using arrowdevice::testing::sized;

}  // namespace

void attempt(const std::vector<Failure>& allowed, const std::function<int(arrowdevice_error*)>& call) {
  arrowdevice_error error{};
  const int code = call(&error);
  if (code == 0) return;
  const std::string message = error.message;
  const bool is_allowed = std::ranges::any_of(allowed, [&](const Failure& one) {
    return message.starts_with(one.message) && code == one.code && error.native_code == one.native_code;
  });
  expect(is_allowed,
         "code " + std::to_string(code) + ", native_code " + std::to_string(error.native_code) + ": " + message);
  arrowdevice_error again{};
  const int second = call(&again);
  expect(second == 0, "it failed once, and the second try as well: " + std::string(again.message));
}

arrowdevice_device* get_device(const Attempt& attempt, ArrowDeviceType type, int64_t id) {
  arrowdevice_device* found = nullptr;
  attempt([&](auto* error) { return arrowdevice_device_find_by_id(type, id, &found, error); });
  return found;
}

void move_bytes(const Attempt& attempt, arrowdevice_device* on) {
  arrowdevice_queue* queue = nullptr;
  void* buffer = nullptr;
  attempt([&](auto* error) { return arrowdevice_queue_create(on, &queue, error); });
  attempt([&](auto* error) { return arrowdevice_buffer_allocate(on, nullptr, queue, 64, &buffer, error); });
  const char sent[64] = "bytes";
  char received[64] = "";
  arrowdevice_copy_region in{};
  in.dst_device = on;
  in.dst = buffer;
  in.src = sent;
  in.size = sizeof sent;
  arrowdevice_copy_region out{};
  out.src_device = on;
  out.src = buffer;
  out.dst = received;
  out.size = sizeof received;
  attempt([&](auto* error) { return arrowdevice_queue_copy(queue, &in, 1, error); });
  attempt([&](auto* error) { return arrowdevice_queue_copy(queue, &out, 1, error); });
  attempt([&](auto* error) { return arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, error); });
  expect(std::string(received) == sent, "the bytes changed");
  arrowdevice_buffer_free(on, queue, buffer);
  arrowdevice_queue_destroy(queue);
}

void move_array(const Attempt& attempt, const HostCase& one, arrowdevice_device* there, arrowdevice_device* further) {
  Ledger ledger;
  const auto schema = one.schema();
  Owned<ArrowArray> host = one.array(ledger);
  const auto twin = one.array(Ledger());
  Owned<ArrowDeviceArray> array;
  attempt([&](auto* error) { return arrowdevice_array_from_host(host.get(), array.out(), error); });
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ASYNC;
  for (arrowdevice_device* const to : {there, further}) {
    Owned<ArrowDeviceArray> next;
    attempt([&](auto* error) {
      const int code = arrowdevice_array_to_device(array.get(), schema.get(), to, &options, next.out(), error);
      expect(code == 0 || !array.released(), "a move failed and took its input");
      return code;
    });
    array = std::move(next);
  }
  arrowdevice_queue* queue = nullptr;
  attempt([&](auto* error) { return arrowdevice_queue_create(further, &queue, error); });
  attempt([&](auto* error) { return arrowdevice_queue_wait_array(queue, array.get(), nullptr, error); });
  Owned<ArrowArray> back;
  attempt(
      [&](auto* error) { return arrowdevice_array_to_host(array.get(), schema.get(), nullptr, back.out(), error); });
  arrowdevice_queue_destroy(queue);
  const auto difference = arrowdevice::testing::difference(*schema, *twin, 0, *schema, *back, 0, twin->length);
  expect(difference.empty(), "the values changed: " + difference);
  back.reset();
  attempt([](auto* error) { return arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, error); });
  expect(ledger.live() == 0, "the input was not released");
}

void copy_thousand_columns(arrowdevice_device* to, const std::vector<std::string>& once,
                           const std::function<int64_t(const std::string&)>& calls) {
  std::vector<arrowdevice::testing::Field> columns;
  for (int i = 0; i < 1'000; ++i) columns.push_back(arrowdevice::testing::field(i % 2 == 0 ? "i" : "g"));
  const HostCase wide{"wide", arrowdevice::testing::struct_of(std::move(columns)).not_null(), {.rows = 100}};
  const auto schema = wide.schema();
  Owned<ArrowArray> array = wide.array(Ledger());
  auto host = output_of(arrowdevice_array_from_host, array.get());
  auto there = output_of(arrowdevice_array_copy, host.get(), schema.get(), to, nullptr);
  for (const auto& call : once) {
    const auto n = calls(call);
    expect(n == 1, call + " was called " + std::to_string(n) + " times");
  }
}

void check_valid(const HostCase& one, arrowdevice_device* on, const std::vector<int64_t>& ids) {
  const auto schema = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  auto host = output_of(arrowdevice_array_from_host, array.get());
  auto there = output_of(arrowdevice_array_copy, host.get(), schema.get(), on, nullptr);
  for (const int64_t id : ids) {
    there->device_id = id;
    for (arrowdevice_device* const named : {static_cast<arrowdevice_device*>(nullptr), on}) {
      arrowdevice_error error{};
      const int code = arrowdevice_array_validate(there.get(), schema.get(), named, ARROWDEVICE_VALIDATE_FULL, &error);
      expect(code == 0, error.message);
    }
  }
}

void check_stream(const HostCase& one, arrowdevice_device* memory, ArrowDeviceType type, arrowdevice_device* to) {
  const auto schema = one.schema();
  auto streamed = one.schema();
  Owned<ArrowArray> array = one.array(Ledger());
  const auto twin = one.array(Ledger());
  auto host = output_of(arrowdevice_array_from_host, array.get());
  auto there = output_of(arrowdevice_array_copy, host.get(), schema.get(), memory, nullptr);
  auto produced =
      output_of(arrowdevice_stream_from_arrays, streamed.get(), there.get(), int64_t{1}, there->device_type);
  produced->device_type = type;
  auto moved = output_of(arrowdevice_stream_to_device, produced.get(), to, nullptr);
  auto batch = output_of(arrowdevice_stream_get_next, moved.get());
  auto back = output_of(arrowdevice_array_to_host, batch.get(), schema.get(), nullptr);
  const auto difference = arrowdevice::testing::difference(*schema, *twin, 0, *schema, *back, 0, twin->length);
  expect(difference.empty(), "the values changed: " + difference);
}

// Lists the devices twice, because the list omits a type if its device count fails.
}  // namespace drivers
