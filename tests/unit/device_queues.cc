// SPDX-License-Identifier: Apache-2.0
// The library's own queues.
#include <thread>

#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("one queue of the library does one copy after the other") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  copy(sample, sim(0));
  const int64_t made = control::counters(0).queues;
  for (int i = 0; i < 20; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
  CHECK(control::counters(0).queues == made);
}

TEST_CASE("a copy does not stand behind a stranger's that is still at work") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  copy(sample, sim(0)).reset();
  control::UserEvent never;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array blocked;
  must(arrowdevice_array_export_event, sim(0), plain.get(), never.sync_event(), nullptr, nullptr, blocked.out());
  const Array waiting = copy(*blocked, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  CHECK(difference(sample, *copy(sample, sim(0))) == "");  // would wait for ever
  CHECK(is_ready(*waiting) == 0);
  never.set();
  must(arrowdevice_array_wait, waiting.get(), nullptr, -1);
  CHECK(difference(sample, *waiting) == "");
}

TEST_CASE("queues of the library are bounded, however many copies are in flight") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  Held engine(0);
  std::vector<Array> pending;
  for (int i = 0; i < 50; ++i) pending.push_back(copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC));
  CHECK(control::counters(0).queues_live <= 8);
  engine.resume();
  for (const Array& one : pending) {
    must(arrowdevice_array_wait, one.get(), nullptr, -1);
    CHECK(difference(sample, *one) == "");
  }
}

TEST_CASE("a queue that a failed copy was on is not used again") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  control::UserEvent broken;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array source;
  must(arrowdevice_array_export_event, sim(0), plain.get(), broken.sync_event(), nullptr, nullptr, source.out());
  broken.fail();
  Array out;
  CHECK(arrowdevice_array_copy(source.get(), sample.schema.get(), sim(0), nullptr, out.out(), nullptr) == EIO);
  CHECK(arrowdevice_array_copy(source.get(), sample.schema.get(), cpu(), nullptr, out.out(), nullptr) == EIO);
  CHECK(out.released());
  for (int i = 0; i < 10; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
}

TEST_CASE("a queue that an asynchronous copy failed on is not used again") {
  begin();
  Sample sample(field("l"), {.rows = 30});
  control::UserEvent broken;
  Owned<ArrowArray> plain(copy(sample, sim(0)).take().array);
  Array source;
  must(arrowdevice_array_export_event, sim(0), plain.get(), broken.sync_event(), nullptr, nullptr, source.out());
  const Array pending = copy(*source, *sample.schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  broken.fail();
  refused(EIO, arrowdevice_array_wait, pending.get(), nullptr, -1);
  for (int i = 0; i < 10; ++i) CHECK(difference(sample, *copy(sample, sim(0))) == "");
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
