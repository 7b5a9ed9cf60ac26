// SPDX-License-Identifier: Apache-2.0
// Tests streams when the system cannot create threads. This is a separate program, because its pthread_create
// serves all libraries of the process.
#include <dlfcn.h>
#include <pthread.h>

#include "stream_handler.h"

namespace {

std::atomic<bool> has_threads{true};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* given) {
  using Create = decltype(&pthread_create);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return has_threads ? create(thread, attributes, body, given) : EAGAIN;
}

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

// Runs first in this program, before the thread of deferred work exists.
TEST_CASE("deferred work without a thread is logged, and runs when the program asks") {
  begin();
  Sample sample(field("l"), {.rows = 21});
  const Queue queue = make_queue(sim(0));
  must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);  // starts the device's thread
  Held engine(0);
  static std::string logged;
  arrowdevice_log_set_handler(
      [](void*, int, const char* message) {
        enter_callback("the log handler");
        logged += message;
      },
      nullptr);
  has_threads = false;
  must(arrowdevice_array_release_after, sample.host.get(), queue.get());
  has_threads = true;
  arrowdevice_log_set_handler(nullptr, nullptr);
  CHECK(contains(logged, "no thread can be started"));
  CHECK(sample.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(sample.ledger.live() == 0);
}

TEST_CASE("a copy to the CPU that gets no thread leaves its array alone") {
  begin();
  Sample sample(field("l"), {.rows = 21});
  has_threads = false;
  const int code = arrowdevice_array_to_host_async(
      sample.host.get(), sample.schema.get(), nullptr,
      [](void*, ArrowArray*, ArrowDeviceArray*, const arrowdevice_error*) {}, nullptr, nullptr);
  has_threads = true;
  CHECK(code == ENOMEM);
  CHECK_FALSE(sample.host.released());
  must(arrowdevice_wait_idle, ARROWDEVICE_POLL);
}

TEST_CASE("a stream ends with the code of an executor that refuses work") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  for (const bool has_one_at_once : {true, false}) {
    auto producer = batches_of(sample, kRows);
    DeviceStream stream = stream_of(producer);
    auto consumer = std::make_shared<Consumer>();
    consumer->on_schema = [](Consumer& told) { return told.request(1), 0; };
    Executor executor;
    executor.accepts = 1;
    const auto options = executor.options();
    must(arrowdevice_async_produce, stream.get(), handler_of(consumer), &options);
    executor.run();
    CHECK(consumer->calls() == "ST");
    if (!has_one_at_once) {
      static std::string logged;
      arrowdevice_log_set_handler(
          [](void*, int, const char* message) {
            enter_callback("the log handler");
            logged += message;
          },
          nullptr);
      has_threads = false;
      consumer->request(1);
      has_threads = true;
      arrowdevice_log_set_handler(nullptr, nullptr);
      CHECK(contains(logged, "cannot be ended"));
      CHECK(consumer->calls() == "ST");
    }
    consumer->request(1);
    consumer->wait_for_release();
    CHECK(consumer->calls() == "STXR");
    CHECK(consumer->code == EUSERS);
    CHECK(producer->releases == 1);
  }
}

void check_ends_without_threads(DeviceStream& stream) {
  has_threads = false;
  Array out;
  const std::string said = must_fail(ENOMEM, arrowdevice_stream_get_next, stream.get(), out.out());
  has_threads = true;
  CHECK(contains(said, "no thread can be started"));
  CHECK(next_fails(ENOMEM, stream) == said);
}

TEST_CASE("a stream that reads ahead fails if no thread can start") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  DeviceStream stream =
      to_device(stream_of(batches_of(sample, kRows)), sim(0), stream_options(ARROWDEVICE_STREAM_READ_AHEAD));
  check_ends_without_threads(stream);
}

TEST_CASE("a stream whose copies need a thread fails if no thread can start") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  auto producer = batches_of(sample, kRows, sim(0));
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), cpu(), stream_options());
  check_ends_without_threads(stream);
  stream.reset();
  CHECK(producer->releases == 1);
}

}  // namespace
