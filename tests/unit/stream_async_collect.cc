// SPDX-License-Identifier: Apache-2.0
// Tests the library as a consumer of async streams.
#include <thread>

#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

Array one(const Sample& sample, const Ledger& ledger) {
  return from_host(make_array(generate(sample.type, sample.knobs), ledger));
}

TEST_CASE("a stream collects the produced arrays") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  for (auto* device : {cpu(), sim(0), sim(3)}) {
    const auto type = device == cpu() ? ArrowDeviceType{ARROW_DEVICE_CPU} : ArrowDeviceType{ARROW_DEVICE_EXT_DEV};
    for (const int32_t depth : {0, 1, 100}) {
      auto [handler, stream] = collect(type, depth);
      auto producer = batches_of(sample, kRows, device);
      DeviceStream produced = stream_of(producer, type);
      must(arrowdevice_async_produce, produced.get(), handler, nullptr);
      Owned<ArrowSchema> schema;
      REQUIRE(stream->get_schema(stream.get(), schema.out()) == 0);
      CHECK(schema->n_children == sample.schema->n_children);
      CHECK(difference_of_rest(sample, kRows, stream) == "");
      stream.reset();
      until([&] { return producer->releases == 1; });
    }
  }
}

TEST_CASE("a stream requests arrays ahead, then one for each array it returns") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect(ARROW_DEVICE_CPU, 3);
  Hand hand(handler);
  CHECK(hand.schema(sample.type) == 0);
  CHECK(hand.requested() == 3);
  for (int i = 0; i < 3; ++i) CHECK(hand.task(one(sample, ledger)) == 0);
  CHECK(hand.requested() == 3);
  CHECK(hand.unextracted() == 3);
  CHECK(difference(sample, *next(stream)) == "");
  CHECK(hand.unextracted() == 2);
  CHECK(hand.requested() == 4);
  CHECK(hand.end() == 0);
  next(stream);
  next(stream);
  CHECK(next(stream).released());
  CHECK(next(stream).released());
  hand.release();
  CHECK(next(stream).released());
  CHECK(hand.cancels() == 0);
  CHECK(ledger.live() == 0);
}

TEST_CASE("a handler refuses a producer of another device type, and the stream fails") {
  begin();
  auto [handler, stream] = collect(ARROW_DEVICE_EXT_DEV);
  Hand hand(handler, ARROW_DEVICE_CPU);
  CHECK(hand.schema(field("i")) == EINVAL);
  hand.release();
  Owned<ArrowSchema> schema;
  CHECK(stream->get_schema(stream.get(), schema.out()) == EINVAL);
  CHECK(contains(stream->get_last_error(stream.get()), "device type"));
  CHECK(contains(next_fails(EINVAL, stream), "device type"));
}

TEST_CASE("an array of another device type than its producer's ends the stream") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  const int64_t before = control::counters(0).allocations_live;
  hand.task(copy(sample, sim(0)));
  CHECK(contains(next_fails(EINVAL, stream), "ext_dev:0"));
  must(arrowdevice_pool_trim, default_pool(sim(0)));
  CHECK(control::counters(0).allocations_live == before);
}

TEST_CASE("a second schema, or a schema without a producer, is refused") {
  begin();
  const int64_t before = live_schema_fields();
  {
    auto [handler, stream] = collect();
    Hand hand(handler);
    CHECK(hand.schema(field("i")) == 0);
    CHECK(hand.schema(field("u")) == EINVAL);
    hand.release();
    CHECK(contains(next_fails(EINVAL, stream), "twice"));
  }
  {
    auto [handler, stream] = collect();
    auto schema = make_schema(field("i"));
    handler->producer = nullptr;
    CHECK(handler->on_schema(handler, schema.get()) == EINVAL);
    handler->release(handler);
    CHECK(contains(next_fails(EINVAL, stream), "no producer"));
  }
  expect_fields_gone(before);
}

TEST_CASE("an early release cancels the producer and discards queued and late arrays") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  for (int i = 0; i < 3; ++i) hand.task(one(sample, ledger));
  next(stream);
  stream.reset();
  CHECK(hand.cancels() == 1);
  CHECK(hand.unextracted() == 0);
  CHECK(hand.task(one(sample, ledger)) == 0);
  CHECK(hand.unextracted() == 0);
  hand.error(EIO, "some tell of a cancel");
  hand.release();
  CHECK(ledger.live() == 0);
}

TEST_CASE("a stream that is released before its producer has begun refuses the schema") {
  begin();
  auto [handler, stream] = collect();
  stream.reset();
  Hand hand(handler);
  CHECK(hand.schema(field("i")) == ECANCELED);
  CHECK(hand.requested() == 0);
  CHECK(hand.end() == 0);  // violates the rules, as Arrow C++ does
}

TEST_CASE("an async producer's error follows its arrays with code and text, and repeats") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  hand.task(one(sample, ledger));
  hand.error(EREMOTEIO, "the net is down");
  hand.release();
  CHECK(difference(sample, *next(stream)) == "");
  for (int i = 0; i < 2; ++i) CHECK(next_fails(EREMOTEIO, stream) == "the net is down");
  CHECK(ledger.live() == 0);

  auto [second, failing] = collect();
  Hand silent(second);
  silent.error(ENODATA, nullptr);
  Owned<ArrowSchema> schema;
  CHECK(failing->get_schema(failing.get(), schema.out()) == ENODATA);
  CHECK(contains(next_fails(ENODATA, failing), std::to_string(ENODATA)));
}

TEST_CASE("a producer's release before the end is an error") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  {
    Hand hand(handler);
    hand.schema(sample.type);
    hand.task(one(sample, ledger));
    hand.release();
    CHECK(difference(sample, *next(stream)) == "");
  }
  CHECK(contains(next_fails(EIO, stream), "before the end"));

  auto [never_used, waiting] = collect();
  never_used->release(never_used);
  CHECK(next_fails(EIO, waiting) != "");
}

TEST_CASE("an extraction that fails ends the stream") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  hand.task(one(sample, ledger), nullptr, EREMOTEIO);
  CHECK(contains(next_fails(EREMOTEIO, stream), "extract_data"));
  next_fails(EREMOTEIO, stream);
  stream.reset();
  CHECK(hand.cancels() == 1);
  CHECK(ledger.live() == 0);
}

TEST_CASE("a failed extraction is reported with the producer's text") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  for (const bool at_once : {true, false}) {
    const Ledger ledger;
    auto [handler, stream] = collect();
    Hand hand(handler);
    std::thread later;
    const auto tell = [&hand] { hand.error(EREMOTEIO, "the disk is gone"); };
    hand.at_failed_extraction = [&] {
      later = std::thread(tell);
      if (at_once) later.join();
    };
    hand.schema(sample.type);
    hand.task(one(sample, ledger), nullptr, ENODATA);
    CHECK(next_fails(EREMOTEIO, stream) == "the disk is gone");
    if (!at_once) later.join();
    hand.release();
    CHECK(hand.cancels() == 0);
    CHECK(ledger.live() == 0);
  }
}

TEST_CASE("an end before the schema fails the stream without a hang") {
  begin();
  auto [handler, stream] = collect();
  Hand hand(handler);
  CHECK(hand.end() == EINVAL);
  hand.release();
  int code = -1;
  std::atomic<bool> is_over{false};
  std::thread reader([&code, &is_over, read = stream.get()] {
    ArrowSchema schema{};
    code = read->get_schema(read, &schema);
    is_over = true;
  });
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_over && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  CHECK(is_over);
  if (!is_over) arrowdevice_stream_cancel(stream.get(), nullptr);
  reader.join();
  CHECK(code == EINVAL);
  CHECK(contains(stream->get_last_error(stream.get()), "before its schema"));
  CHECK(contains(next_fails(EINVAL, stream), "before its schema"));
}

TEST_CASE("a cancel ends waits for a schema or an array, and cancels the producer") {
  begin();
  for (const bool has_schema : {false, true}) {
    auto [handler, stream] = collect();
    Hand hand(handler);
    if (has_schema) hand.schema(field("i"));
    int code = -1;  // no assertions on other threads
    std::thread canceller(
        [&code, waited_for = stream.get()] { code = arrowdevice_stream_cancel(waited_for, nullptr); });
    if (has_schema) {
      CHECK(contains(next_fails(ECANCELED, stream), "cancelled"));
    } else {
      Owned<ArrowSchema> schema;
      CHECK(stream->get_schema(stream.get(), schema.out()) == ECANCELED);
    }
    canceller.join();
    CHECK(code == 0);
    next_fails(ECANCELED, stream);
    CHECK(hand.cancels() == (has_schema ? 1 : 0));
  }
}

// Some producers no longer exist at that time, except for their release callback.
TEST_CASE("the stream does not call a producer after its end or its error") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  for (const bool fails : {false, true}) {
    const Ledger ledger;
    auto [handler, stream] = collect(ARROW_DEVICE_CPU, 2);
    Hand hand(handler);
    hand.schema(sample.type);
    hand.task(one(sample, ledger));
    if (fails) {
      hand.error(EIO, "it broke");
    } else {
      hand.end();
    }
    CHECK(difference(sample, *next(stream)) == "");
    CHECK(hand.requested() == 2);
    must(arrowdevice_stream_cancel, stream.get());
    stream.reset();
    CHECK(hand.cancels() == 0);
  }
}

TEST_CASE("the stream cancels a producer once and does not call it afterwards") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  hand.task(one(sample, ledger));
  for (int i = 0; i < 2; ++i) must(arrowdevice_stream_cancel, stream.get());
  stream.reset();
  CHECK(hand.cancels() == 1);
  CHECK(hand.requested() == 4);
  CHECK(hand.unextracted() == 0);
}

TEST_CASE("a collected array is canonical, and an event without a device is refused") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto [handler, stream] = collect();
  Hand hand(handler);
  hand.schema(sample.type);
  Array dirty = one(sample, ledger);
  soil(*dirty);
  hand.task(std::move(dirty));
  CHECK(is_canonical_on_cpu(*next(stream)));
  Array with_event = one(sample, ledger);
  with_event->sync_event = &hand;
  hand.task(std::move(with_event));
  CHECK(contains(next_fails(EINVAL, stream), "sync_event"));
  stream.reset();
  hand.release();
  CHECK(ledger.live() == 0);
}

TEST_CASE("invalid arguments of a collection are refused") {
  begin();
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  DeviceStream stream;
  must_fail(EINVAL, arrowdevice_async_collect, 0, nullptr, &handler, stream.out());
  must_fail(EINVAL, arrowdevice_async_collect, ARROW_DEVICE_CPU, nullptr, nullptr, stream.out());
  must_fail(EINVAL, arrowdevice_async_collect, ARROW_DEVICE_CPU, nullptr, &handler, nullptr);
  CHECK(handler == nullptr);
  CHECK(stream.released());
}

}  // namespace
