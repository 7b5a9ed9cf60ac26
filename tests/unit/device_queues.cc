// SPDX-License-Identifier: Apache-2.0
// Tests the library's own queues.
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("one queue of the library runs sequential copies") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  copy(sample, sim(0));
  const int64_t made = control::counters(0).queues;
  for (int i = 0; i < 20; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
  CHECK(control::counters(0).queues == made);
}

TEST_CASE("a copy does not wait for an unrelated pending copy") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  copy(sample, sim(0)).reset();
  control::UserEvent never;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array blocked = output_of(arrowdevice_array_export_event, sim(0), plain.get(), never.sync_event(), nullptr, nullptr);
  const Array waiting = copy(*blocked, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  CHECK(difference(sample, *copy(sample, sim(0))) == "");  // behind the blocked copy it would wait without end
  CHECK(is_ready(*waiting) == 0);
  never.set();
  must(arrowdevice_array_wait, waiting.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(difference(sample, *waiting) == "");
}

TEST_CASE("the number of the library's queues is bounded for any number of copies") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  std::vector<Array> pending;
  for (int i = 0; i < 50; ++i) pending.push_back(copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC));
  CHECK(control::counters(0).queues_live <= 8);
  engine.resume();
  for (const Array& one : pending) {
    must(arrowdevice_array_wait, one.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    CHECK(difference(sample, *one) == "");
  }
}

TEST_CASE("a queue with a failed copy is not reused") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  control::UserEvent broken;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array source = output_of(arrowdevice_array_export_event, sim(0), plain.get(), broken.sync_event(), nullptr, nullptr);
  broken.fail();
  Array out;
  CHECK(arrowdevice_array_copy(source.get(), sample.schema.get(), sim(0), nullptr, out.out(), nullptr) == EIO);
  CHECK(arrowdevice_array_copy(source.get(), sample.schema.get(), cpu(), nullptr, out.out(), nullptr) == EIO);
  CHECK(out.released());
  for (int i = 0; i < 10; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
}

TEST_CASE("a queue with a failed asynchronous copy is not reused") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  control::UserEvent broken;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array source = output_of(arrowdevice_array_export_event, sim(0), plain.get(), broken.sync_event(), nullptr, nullptr);
  const Array pending = copy(*source, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  broken.fail();
  must_fail(EIO, arrowdevice_array_wait, pending.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  for (int i = 0; i < 10; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
}

// Returns an array on a device. Its producer is pending until `event` fires.
Array pending_on(control::UserEvent& event, const Sample& sample, int64_t id) {
  Owned<ArrowArray> plain(copy(sample, sim(id)).take().array);
  return output_of(arrowdevice_array_export_event, sim(id), plain.get(), event.sync_event(), nullptr, nullptr);
}

TEST_CASE("a copy neither waits nor fails with earlier copies that wait for a producer") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  control::UserEvent producer;
  const Array source = pending_on(producer, sample, 0);
  std::vector<Array> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(copy(*source, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC));
  CHECK(control::counters(0).queues_live <= 8);
  const Array at_once = copy(sample, sim(0));  // behind a waiting copy it would wait without end
  const Array later = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  producer.fail();
  must(arrowdevice_array_wait, later.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(difference(sample, *at_once) == "");
  CHECK(difference(sample, *later) == "");
  for (const Array& one : waiting) must_fail(EIO, arrowdevice_array_wait, one.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  // No queue that failed is used again.
  for (int i = 0; i < 10; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
  CHECK(control::counters(0).queues_live <= 8);
}

TEST_CASE("a queue with only a pending wait is not reused") {
  begin(configuration(Peers::kNone));
  // The copy goes through the host. It reads no byte of the source, so no work follows the wait for the
  // producer.
  Sample empty(field("u"), {.rows = 0});
  Sample sample(field("l"), {.rows = 30});
  const Array healthy = copy(sample, sim(0));
  control::UserEvent producer;
  const Array source = pending_on(producer, empty, 0);
  const Array without_bytes = copy(*source, *empty.schema, sim(1), ARROWDEVICE_COPY_ASYNC);
  const Array at_once = copy(*healthy, *sample.schema, sim(0));  // behind that wait it would wait without end
  const Array later = copy(*healthy, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  producer.fail();
  must(arrowdevice_array_wait, later.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(difference(sample, *at_once) == "");
  CHECK(difference(sample, *later) == "");
}

TEST_CASE("a queue without work is reused") {
  begin();
  Sample empty(field("n"), {.rows = 3});
  copy(empty, sim(0)).reset();
  const int64_t made = control::counters(0).queues;
  for (int i = 0; i < 3; ++i) CHECK(difference(empty, *copy(empty, sim(0))) == "");
  CHECK(control::counters(0).queues == made);
}

TEST_CASE("memory of a failed copy is reused even if the first wait for its end fails") {
  auto slow = configuration();
  slow.devices[0].latency_us = 20'000;  // the work is still running after the wait has failed
  begin(slow);
  Sample sample(field("l"), {.rows = 30});
  control::fail_next("queue_copy");
  control::fail_next("event_wait");
  Array out;
  CHECK(arrowdevice_array_copy(sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out(), nullptr) == EIO);
  CHECK(control::failures_injected() == 2);
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  must(arrowdevice_pool_trim, default_pool(sim(0)));
  CHECK(control::counters(0).allocations_live == 0);
}

TEST_CASE("several threads copy to one device at the same time") {
  begin();
  Sample sample(mixed_batch(), {.rows = 30});
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  arrowdevice_device* const device = sim(0);
  arrowdevice_device* const host = cpu();
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        Array there, back;
        if (arrowdevice_array_copy(sample.host.get(), sample.schema.get(), device, nullptr, there.out(), nullptr) !=
                0 ||
            arrowdevice_array_copy(there.get(), sample.schema.get(), host, nullptr, back.out(), nullptr) != 0) {
          wrong[t] = "a copy failed";
          return;
        }
        wrong[t] += arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, back->array);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& one : wrong) CHECK(one == "");
  CHECK(control::counters(0).queues_live <= 8);
}

}  // namespace
