// SPDX-License-Identifier: Apache-2.0
#include "sim_table.h"

using namespace sim_test;
using arrowdevice::sim::Function;

TEST_CASE("simulated device: the nth call of a function fails, and only that", "[sim]") {
  control::reset(devices("a"));
  void* device = open(0);
  control::fail_nth("buffer_allocate", 2);
  void* out = nullptr;
  const Buffer first(device, 64);
  CHECK(contains(message(table().buffer_allocate, device, nullptr, int64_t{64}, int64_t{64}, &out), "asked for"));
  const Buffer third(device, 64);
  CHECK(control::calls("buffer_allocate") == 3);
  CHECK(control::failures_injected() == 1);
  CHECK(control::counters(0).allocations == 2);
  CHECK(control::refused() == 0);

  control::fail_next("buffer_allocate");
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{64}, int64_t{64}, &out) == ENOMEM);
  control::fail_next("queue_create", EBUSY);
  CHECK(code(table().queue_create, device, &out) == EBUSY);
  CHECK_THROWS_AS(control::fail_next("queue_destroy"), arrowdevice::Error);
  CHECK_THROWS_AS(control::fail_next("no_such_function"), arrowdevice::Error);
}

TEST_CASE("simulated device: failures that were configured count from the first call", "[sim]") {
  auto configuration = devices("a");
  configuration.failures = {{.function = Function::queue_copy, .call = 2, .onwards = true, .code = 0}};
  control::reset(configuration);
  void* device = open(0);
  const Buffer buffer(device, 64);
  const Queue queue(device);
  const auto bytes = sample(64);
  CHECK(queue.try_copy(to_device(buffer, bytes.data())) == 0);
  CHECK(queue.try_copy(to_device(buffer, bytes.data())) == EIO);
  CHECK(queue.try_copy(to_device(buffer, bytes.data())) == EIO);
  CHECK(queue.finish() == 0);
}

TEST_CASE("simulated device: a failing event fails when the engine runs it", "[sim]") {
  control::reset(devices("a"));
  const Queue queue(open(0));
  control::fail_next("event");
  control::hold(0);
  const Event doomed = queue.record();
  CHECK_FALSE(doomed.ready());
  control::resume(0);
  CHECK(doomed.wait() == EIO);
  CHECK(queue.finish() == 0);
}

TEST_CASE("simulated device: a lost device ends its work and refuses more", "[sim]") {
  control::reset(devices("aa"));
  void* device = open(0);
  const Buffer buffer(device, 64);
  const auto untouched = content(0, buffer);
  const Queue queue(device), other(open(1));
  const auto bytes = sample(64);
  control::hold(0);
  const Event before = queue.record();
  queue.copy(to_device(buffer, bytes.data()));
  const Event after = queue.record();
  other.wait(after);
  const Event waiting = other.record();
  control::lose(0);
  control::resume(0);

  CHECK(before.wait() == EIO);
  CHECK(after.wait() == EIO);
  CHECK(waiting.wait() == EIO);
  CHECK(content(0, buffer) == untouched);
  void* out = nullptr;
  int64_t free_bytes = 0, total_bytes = 0;
  CHECK(queue.try_copy(to_device(buffer, bytes.data())) == EIO);
  CHECK(code(table().event_record, queue.get(), &out) == EIO);
  CHECK(code(table().queue_create, device, &out) == EIO);
  CHECK(code(table().buffer_allocate, device, nullptr, int64_t{64}, int64_t{64}, &out) == EIO);
  CHECK(code(table().device_get_memory_info, device, &free_bytes, &total_bytes) == EIO);
  const Queue third(open(1));
  CHECK(third.finish() == 0);

  control::reset(devices("aa"));
  CHECK(queue.finish() == 0);
}

TEST_CASE("simulated device: a submission can lose the device", "[sim]") {
  control::reset(devices("a"));
  const Queue queue(open(0));
  control::fail_nth("lost", 3);
  CHECK(queue.finish() == 0);
  CHECK(queue.record().get() != nullptr);
  void* out = nullptr;
  CHECK(contains(message(table().event_record, queue.get(), &out), "was lost"));
}

TEST_CASE("simulated device: a disabled function and its pair are not in the table", "[sim]") {
  for (int i = 0; i < arrowdevice::sim::kFunctions; ++i) {
    const auto function = static_cast<Function>(i);
    if (!arrowdevice::sim::is_optional(function)) continue;
    auto configuration = devices("a");
    configuration.without = {function};
    control::reset(configuration);
    const arrowdevice_backend& t = table();
    const auto missing = [&](auto... names) { return ((function == names) || ...); };
    INFO(arrowdevice::sim::name_of(function));
    CHECK((t.event_publish == nullptr) == missing(Function::event_publish));
    CHECK((t.event_import == nullptr) == missing(Function::event_import));
    CHECK((t.sub_buffer_create == nullptr) == missing(Function::sub_buffer_create, Function::sub_buffer_destroy));
    CHECK((t.sub_buffer_destroy == nullptr) == missing(Function::sub_buffer_create, Function::sub_buffer_destroy));
    CHECK((t.queue_wrap == nullptr) == missing(Function::queue_wrap, Function::queue_get_native));
    CHECK((t.queue_get_native == nullptr) == missing(Function::queue_wrap, Function::queue_get_native));
    CHECK((t.device_wrap == nullptr) == missing(Function::device_wrap, Function::device_unwrap));
    CHECK((t.device_unwrap == nullptr) == missing(Function::device_wrap, Function::device_unwrap));
    CHECK((t.device_get_native == nullptr) == missing(Function::device_get_native));
    CHECK((t.device_get_peer_flags == nullptr) == missing(Function::device_get_peer_flags));
    CHECK((t.device_locate == nullptr) == missing(Function::device_locate));
    CHECK((t.pointer_get_info == nullptr) == missing(Function::pointer_get_info));
    CHECK((t.device_get_memory_info == nullptr) == missing(Function::device_get_memory_info));

    auto info = output_of(t.device_get_info, open(0));
    CHECK(((info.flags & ARROWDEVICE_DEVICE_EVENTS) == 0) == missing(Function::event_publish));
  }
  control::reset();
}
