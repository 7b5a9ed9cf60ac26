// SPDX-License-Identifier: Apache-2.0
// Tests copies that return while they run.
#include "library.h"
#include "support/callback.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("an asynchronous copy has an event that is pending until the copy has finished") {
  begin();
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    Sample sample(mixed_batch(), {.rows = 40});
    Held engine(id);
    const auto there = copy(sample, sim(id), ARROWDEVICE_COPY_ASYNC);
    REQUIRE(there->sync_event != nullptr);
    CHECK(is_ready(*there) == 0);
    engine.resume();
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    CHECK(is_ready(*there) == 1);
    CHECK(difference(sample, *there) == "");
  }
}

TEST_CASE("a copy is complete on return unless COPY_ASYNC is set") {
  begin();
  Sample sample(field("l"), {.rows = 40});
  const auto there = copy(sample, sim(0));
  CHECK(there->sync_event == nullptr);
  const auto back = copy(*there, *sample.schema, cpu(), ARROWDEVICE_COPY_ASYNC);
  CHECK(back->sync_event == nullptr);  // the CPU has no events
  CHECK(difference(sample, *back) == "");
}

TEST_CASE("memory of a copy released before its event is reused only after the event") {
  begin();
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    Sample first(field("l"), {.rows = 1'000, .seed = 1});
    Sample second(field("l"), {.rows = 1'000, .seed = 2});
    arrowdevice_pool* const pool = default_pool(sim(id));
    const PoolStats before = stats(pool);
    Held engine(id);
    auto gone = copy(first, sim(id), ARROWDEVICE_COPY_ASYNC);
    gone.reset();
    CHECK(stats(pool).cached_bytes == 0);
    CHECK(stats(pool).used_bytes > before.used_bytes);
    const auto other = copy(second, sim(id), ARROWDEVICE_COPY_ASYNC);
    CHECK(stats(pool).driver_allocations - before.driver_allocations == 2);
    CHECK(control::counters(id).allocations_live >= 2);
    engine.resume();
    must(arrowdevice_array_wait, other.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(stats(pool).cached_bytes > 0);
    CHECK(difference(second, *other) == "");
    CHECK(control::refused() == 0);
  }
}

TEST_CASE("a child that leaves a pending copy keeps the memory until the event") {
  begin();
  Sample sample(struct_of({field("l", "a"), field("u", "b")}).not_null(), {.rows = 100});
  Held engine(0);
  auto there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  ArrowDeviceArray child = *there;
  child.array = *there->array.children[1];
  there->array.children[1]->release = nullptr;
  there.reset();
  Array owned(child);
  CHECK(is_ready(*owned) == 0);  // the child keeps the event alive
  engine.resume();
  must(arrowdevice_array_wait, owned.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  const auto back = copy(*owned, *sample.schema->children[1], cpu());
  CHECK(arrowdevice::testing::difference(*sample.schema->children[1], *sample.twin->children[1],
                                         *sample.schema->children[1], back->array) == "");
}

TEST_CASE("the source of a pending move is released only after the copy") {
  begin();
  Sample sample(mixed_batch(), {.rows = 40});
  Held engine(0);
  const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  Array there = output_of(arrowdevice_array_to_device, sample.host.get(), sample.schema.get(), sim(0), &options);
  CHECK(sample.host.released());
  CHECK(sample.ledger.live() > 0);
  CHECK(is_ready(*there) == 0);
  there.reset();  // releasing the copy does not release the source
  CHECK(sample.ledger.live() > 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(sample.ledger.live() == 0);
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("a pending array moves along devices without a wait") {
  begin();
  Sample sample(field("l"), {.rows = 100});
  Held first(0);
  Held second(1);
  Array array = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
  for (const int64_t id : {1, 2, 3}) {
    Array moved = output_of(arrowdevice_array_to_device, array.get(), sample.schema.get(), sim(id), &options);
    array = std::move(moved);
    CHECK(is_ready(*array) == 0);
  }
  second.resume();
  CHECK(is_ready(*array) == 0);
  first.resume();
  must(arrowdevice_array_wait, array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  CHECK(difference(sample, *array) == "");
}

TEST_CASE("a wait fails if the device fails after the submission") {
  begin();
  Sample sample(field("l"), {.rows = 100});
  Held engine(0);
  control::fail_next("event");
  const auto there = copy(sample, sim(0), ARROWDEVICE_COPY_ASYNC);
  engine.resume();
  must_fail_saying(EIO, "event", arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
  int ready = -1;
  must_fail(EIO, arrowdevice_array_is_ready, there.get(), nullptr, &ready);
}

TEST_CASE("a synchronous copy fails as a whole with its device and loses nothing") {
  begin();
  Sample sample(field("l"), {.rows = 100});
  arrowdevice_pool* const pool = default_pool(sim(0));
  control::fail_next("event");
  Array out;
  CHECK(arrowdevice_array_copy(sample.host.get(), sample.schema.get(), sim(0), nullptr, out.out(), nullptr) == EIO);
  CHECK(out.released());
  CHECK(stats(pool).used_bytes == 0);
  CHECK(difference(sample, *copy(sample, sim(0))) == "");
}

TEST_CASE("a copy that fails at any step leaks nothing and leaves its input alone") {
  Sample sample(mixed_batch(), {.rows = 40});
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    begin();
    Array source = copy(sample, sim(id));
    for (const bool in : {true, false}) {
      for (const char* function : {"queue_copy", "event_record", "event_wait", "event_query", "event_publish", "event",
                                   "buffer_allocate", "sub_buffer_create", "queue_create"}) {
        for (int nth = 1; nth <= 3; ++nth) {
          for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_ASYNC}}) {
            begin();
            const int64_t live = control::counters(id).allocations_live;
            const int64_t subs = control::counters(id).sub_buffers_live;
            control::fail_nth(function, nth);
            const auto options = copy_options(flags);
            Array out;
            const auto& from = in ? *sample.host : *source;
            const int code =
                arrowdevice_array_copy(&from, sample.schema.get(), in ? sim(id) : cpu(), &options, out.out(), nullptr);
            INFO((in ? "to " : "from ") << id << ": " << function << ", call " << nth << ", flags " << flags);
            CHECK((code == 0) == !out.released());
            if (flags == 0 && control::failures_injected() == 0) CHECK(code == 0);
            out.reset();
            begin();
            CHECK(control::counters(id).allocations_live == live);
            CHECK(control::counters(id).sub_buffers_live == subs);
            // A cached queue holds its last event.
            CHECK(control::counters(id).events_live <= control::counters(id).queues_live);
          }
        }
      }
    }
    CHECK(difference(sample, *source) == "");
  }
  CHECK(sample.ledger.live() > 0);
}

TEST_CASE("a copy on a device that is lost meanwhile fails and leaves its source alone") {
  Sample sample(mixed_batch(), {.rows = 40});
  for (const bool in : {true, false}) {
    for (int nth = 1; nth <= 4; ++nth) {
      begin();
      const Array source = copy(sample, sim(0));
      control::fail_nth("lost", nth);
      arrowdevice_log_set_handler([](void*, int, const char*) { enter_callback("the log handler"); }, nullptr);
      Array out;
      const auto& from = in ? *sample.host : *source;
      const int code =
          arrowdevice_array_copy(&from, sample.schema.get(), in ? sim(0) : cpu(), nullptr, out.out(), nullptr);
      arrowdevice_log_set_handler(nullptr, nullptr);
      INFO((in ? "to" : "from") << " the device, submission " << nth);
      CHECK(code == (control::failures_injected() > 0 ? EIO : 0));
      CHECK(out.released() == (code != 0));
      control::reset(configuration());
      CHECK(difference(sample, *source) == "");
    }
  }
  CHECK(difference(sample, *sample.host) == "");
}

TEST_CASE("wait_idle waits for an asynchronous copy that is released early") {
  begin();
  Sample sample(field("l"), {.rows = 30});  // the copy reads no data back
  Array source = copy(sample, sim(0));
  Held from(0), to(1);
  Array out = copy(*source, *sample.schema, sim(1), ARROWDEVICE_COPY_ASYNC);
  REQUIRE(out->sync_event != nullptr);
  out.reset();
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  from.resume();
  to.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  source.reset();
  CHECK(control::refused() == 0);
}

}  // namespace
