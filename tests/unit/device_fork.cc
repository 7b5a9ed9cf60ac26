// SPDX-License-Identifier: Apache-2.0
// Tests children of a process that has opened a driver. Arrays on the CPU work as before. Arrays on devices
// are released without a call of the driver.
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"
#include "support/ending.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

// Runs `body` in a forked child. Returns the number of the first check that failed, or 0.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) end_child(body());
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE("in a forked child, arrays on the CPU are copied, shared and released") {
  begin();
  Sample sample(mixed_batch(), {.rows = 20});
  Array shared = output_of(arrowdevice_array_share, sample.host.get());
  copy(sample, sim(0)).reset();
  CHECK(in_child([&] {
          Array made;
          if (arrowdevice_array_copy(shared.get(), sample.schema.get(), cpu(), nullptr, made.out(), nullptr) != 0)
            return 1;
          if (arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, made->array) != "")
            return 2;
          made.reset();
          arrowdevice_array_release(shared.get());
          if (sample.ledger.live() == 0) return 3;
          arrowdevice_array_release(sample.host.get());
          if (sample.ledger.live() != 0) return 4;
          return 0;
        }) == 0);
  CHECK(sample.ledger.live() > 0);  // the release in the child does not affect the parent
}

TEST_CASE("in a forked child, arrays on devices are released without a driver call") {
  begin();
  Sample sample(mixed_batch(), {.rows = 20});
  Array there = copy(sample, sim(kHandles[0]));
  Array pending = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  must(arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  Queue queue = make_queue(sim(0));
  Pool pool = make_pool(sim(0));
  auto* buffer = output_of(arrowdevice_buffer_allocate, sim(0), pool.get(), nullptr, 100);
  const auto calls = [] {
    int64_t all = 0;
    for (const char* function :
         {"buffer_free", "sub_buffer_destroy", "event_destroy", "queue_destroy", "event_query", "event_wait",
          "event_record", "queue_copy", "buffer_allocate", "queue_create", "device_locate"}) {
      all += control::calls(function);
    }
    return all;
  };
  CHECK(in_child([&] {
          const int64_t before = calls();
          arrowdevice_buffer_free(sim(0), nullptr, buffer);
          there.reset();
          pending.reset();
          queue.reset();
          pool.reset();
          if (arrowdevice_wait_idle(ARROWDEVICE_POLL, nullptr) != 0) return 1;
          return calls() == before ? 0 : 2;
        }) == 0);
  CHECK(difference(sample, *there) == "");
  CHECK(difference(sample, *pending) == "");
  arrowdevice_buffer_free(sim(0), nullptr, buffer);
}

TEST_CASE("in a forked child, destroying the parent's pool does not call the application") {
  begin();
  copy(Sample(field("l")), sim(0)).reset();  // opens a driver
  for (arrowdevice_device* const device : {cpu(), sim(0)}) {
    int given_back = 0;
    auto options = pool_options();
    options.destroy = [](void* user) { ++*static_cast<int*>(user); };
    options.user = &given_back;
    Pool pool = make_pool(device, &options);
    CHECK(in_child([&] {
            pool.reset();
            if (given_back != 0) return 1;
            // The child makes this pool.
            arrowdevice_pool* made = nullptr;
            if (arrowdevice_pool_create(cpu(), &options, &made, nullptr) != 0) return 2;
            arrowdevice_pool_destroy(made);
            return given_back == 1 ? 0 : 3;
          }) == 0);
    pool.reset();
    CHECK(given_back == 1);
  }
}

TEST_CASE("in a forked child, streams are released without calling the producer") {
  begin();
  Sample sample(mixed_batch(), {.rows = 20});
  Array batch = output_of(arrowdevice_array_share, sample.host.get());
  Owned<ArrowSchema> schema;
  must(arrowdevice_schema_copy, sample.schema.get(), schema.out());
  Owned<ArrowDeviceArrayStream> source, stream;
  must(arrowdevice_stream_from_arrays, schema.get(), batch.get(), int64_t{1}, ARROW_DEVICE_CPU, source.out());
  must(arrowdevice_stream_to_device, source.get(), sim(0), nullptr, stream.out());
  CHECK(in_child([&] {
          const int64_t before = control::calls("queue_copy");
          stream.reset();
          // The child must not release the producer, because a thread of the parent may use it.
          if (sample.ledger.live() == 0) return 1;
          return control::calls("queue_copy") == before ? 0 : 2;
        }) == 0);
  Array there = output_of(arrowdevice_stream_get_next, stream.get());
  CHECK(difference(sample, *there) == "");
}

TEST_CASE("in a forked child, calls on the parent's devices fail") {
  begin();
  Sample sample(mixed_batch(), {.rows = 20});
  Array there = copy(sample, sim(0));
  arrowdevice_device* const device = sim(0);
  CHECK(in_child([&] {
          Array out;
          arrowdevice_queue* queue = nullptr;
          void* buffer = nullptr;
          if (arrowdevice_array_copy(sample.host.get(), sample.schema.get(), device, nullptr, out.out(), nullptr) !=
              ENODEV) {
            return 1;
          }
          if (arrowdevice_array_copy(there.get(), sample.schema.get(), cpu(), nullptr, out.out(), nullptr) != ENODEV)
            return 2;
          if (arrowdevice_queue_create(device, &queue, nullptr) != ENODEV) return 3;
          if (arrowdevice_buffer_allocate(device, nullptr, nullptr, 100, &buffer, nullptr) != ENODEV) return 4;
          if (!out.released()) return 5;
          arrowdevice_error error{};
          if (arrowdevice_queue_create(device, &queue, &error) != ENODEV) return 6;
          if (std::string(error.message).find("fork") == std::string::npos) return 7;
          there.reset();
          return 0;
        }) == 0);
  CHECK(difference(sample, *there) == "");
}

}  // namespace
