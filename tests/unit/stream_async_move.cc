// SPDX-License-Identifier: Apache-2.0
// Tests the library between a producer and a consumer of async streams, with a device between them.
#include <thread>

#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

ArrowAsyncDeviceStreamHandler* before(ArrowAsyncDeviceStreamHandler* downstream, arrowdevice_device* to,
                                      const arrowdevice_async_options& options = async_options()) {
  return output_of(arrowdevice_async_to_device, downstream, to, &options);
}

TEST_CASE("arrays are produced on one device and collected on another, over others") {
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    for (const int32_t depth : {0, 1}) {
      ArrowAsyncDeviceStreamHandler* handler = nullptr;
      DeviceStream stream;
      const auto options = async_options(depth);
      must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, &options, &handler, stream.out());
      for (const int64_t id : {3, 1, 2, 0}) handler = before(handler, sim(id), options);
      auto producer = batches_of(sample, kRows);
      DeviceStream produced = stream_of(producer);
      must(arrowdevice_async_produce, produced.get(), handler, nullptr);
      CHECK(difference_of_rest(sample, kRows, stream) == "");
      stream.reset();
      until([&] { return producer->releases == 1; });
    }
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("a bounded number of arrays is moved ahead of the consumer's requests") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows);
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer&) { return 0; };
  DeviceStream produced = stream_of(producer);
  Held engine(0);
  must(arrowdevice_async_produce, produced.get(), before(handler_of(consumer), sim(0), async_options(3)), nullptr);
  until([&] { return producer->calls == 3; });
  until([&] { return consumer->calls() == "S"; });
  consumer->request(1);
  consumer->wait_for_tasks(1);
  CHECK(is_ready(*consumer->arrays[0]) == 0);  // the consumer gets the array while the copy runs
  until([&] { return producer->calls == 4; });
  CHECK(consumer->calls() == "ST");
  engine.resume();
  CHECK(difference(sample, *consumer->arrays[0]) == "");
  consumer->request(100);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTTTTTTTTER");
  CHECK(consumer->device_type == ARROW_DEVICE_EXT_DEV);
  CHECK_FALSE(consumer->overlapped);
}

TEST_CASE("a cancel downstream cancels upstream and releases arrays moved ahead") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows);
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer& told) { return told.request(1), 0; };
  DeviceStream produced = stream_of(producer);
  must(arrowdevice_async_produce, produced.get(), before(handler_of(consumer), sim(0)), nullptr);
  consumer->wait_for_tasks(1);
  consumer->cancel();
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STR");
  until([&] { return producer->releases == 1; });
  consumer->arrays.clear();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  until([&] { return stats(default_pool(sim(0))).used_bytes == 0; });
}

TEST_CASE("an upstream error arrives downstream after the earlier arrays") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows);
  producer->steps[2].code = EREMOTEIO;
  producer->steps[2].text = "the disk is gone";
  auto consumer = std::make_shared<Consumer>();
  DeviceStream produced = stream_of(producer);
  must(arrowdevice_async_produce, produced.get(), before(handler_of(consumer), sim(0)), nullptr);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTXR");
  CHECK(consumer->code == EREMOTEIO);
  CHECK(consumer->text == "the disk is gone");
}

TEST_CASE("a failed move is an error downstream and a cancel upstream") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 14});
  const Ledger ledger;
  auto consumer = std::make_shared<Consumer>();
  Hand hand(before(handler_of(consumer), sim(0)));
  CHECK(hand.schema(sample.type) == 0);
  CHECK(hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger))) == 0);
  consumer->wait_for_tasks(1);
  control::fail_next("queue_copy");
  CHECK(hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger))) == 0);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STXR");
  CHECK(consumer->code == EIO);
  CHECK(contains(consumer->text, "copy: "));
  CHECK(hand.cancels() >= 1);
  // This array comes too late.
  CHECK(hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger))) == 0);
  CHECK(hand.unextracted() == 0);
  hand.release();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  until([&] { return ledger.live() == 0; });
}

// Some producers no longer exist at that time, except for their release callback.
TEST_CASE("the library does not call a producer after its end or its error") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 5});
  for (const bool cancelled : {false, true}) {
    for (const bool fails : {false, true}) {
      auto consumer = std::make_shared<Consumer>();
      consumer->on_schema = [](Consumer&) { return 0; };
      Hand hand(before(handler_of(consumer), sim(0)));
      hand.schema(sample.type);
      hand.task(copy(sample, cpu()));
      if (fails) {
        hand.error(EIO, "it broke");
      } else {
        hand.end();
      }
      until([&] { return consumer->calls() == "S"; });
      if (cancelled) {
        consumer->cancel();
      } else {
        consumer->request(2);
      }
      consumer->wait_for_release();
      CHECK(consumer->calls() == (cancelled ? "SR" : fails ? "STXR" : "STER"));
      CHECK(hand.requested() == 4);
      CHECK(hand.cancels() == 0);
    }
  }
}

// Some producers no longer exist after the first cancel, except for their release callback.
TEST_CASE("the library cancels a producer once and does not call it afterwards") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 5});
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer&) { return 0; };
  Executor executor;  // delays all work until both cancels have come
  Hand hand(before(handler_of(consumer), sim(0), executor.options()));
  hand.schema(sample.type);
  hand.task(copy(sample, cpu()));
  executor.run();
  CHECK(consumer->calls() == "S");
  for (int i = 0; i < 2; ++i) consumer->cancel();
  executor.run();
  consumer->wait_for_release();
  CHECK(hand.cancels() == 1);
  CHECK(hand.requested() == 4);
  CHECK(hand.unextracted() == 0);
}

TEST_CASE("a consumer that refuses ends upstream too") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  auto producer = batches_of(sample, kRows);
  auto consumer = std::make_shared<Consumer>();
  consumer->on_task = [](Consumer&, ArrowAsyncTask*) { return ENOBUFS; };
  DeviceStream produced = stream_of(producer);
  must(arrowdevice_async_produce, produced.get(), before(handler_of(consumer), sim(0)), nullptr);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STR");
  until([&] { return producer->releases == 1; });
}

TEST_CASE("a release before the producer begins is an error downstream") {
  begin();
  auto consumer = std::make_shared<Consumer>();
  auto* const upstream = before(handler_of(consumer), sim(0));
  upstream->release(upstream);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->code == EIO);
}

TEST_CASE("a schema without a producer is refused") {
  begin();
  const int64_t fields_before = live_schema_fields();
  auto consumer = std::make_shared<Consumer>();
  auto* const upstream = before(handler_of(consumer), sim(0));
  auto schema = make_schema(field("i"));
  upstream->producer = nullptr;
  CHECK(upstream->on_schema(upstream, schema.get()) == EINVAL);
  expect_fields_gone(fields_before);
  upstream->release(upstream);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->code == EINVAL);
  CHECK(contains(consumer->text, "no producer"));
}

TEST_CASE("a producer's release before the end is an error downstream") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  auto consumer = std::make_shared<Consumer>();
  Hand hand(before(handler_of(consumer), sim(0)));
  hand.schema(sample.type);
  hand.release();
  consumer->wait_for_release();
  CHECK(consumer->calls() == "SXR");
  CHECK(consumer->code == EIO);
}

TEST_CASE("the end follows a request, as an array does") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer& told) { return told.request(3), 0; };
  Executor executor;
  Hand hand(before(handler_of(consumer), sim(0), executor.options()));
  hand.schema(sample.type);
  for (int i = 0; i < 3; ++i) hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger)));
  hand.end();
  hand.release();
  executor.run();
  CHECK(consumer->calls() == "STTT");
  consumer->request(1);
  executor.run();
  CHECK(consumer->calls() == "STTTER");
}

TEST_CASE("an end before the schema is an error downstream") {
  begin();
  auto consumer = std::make_shared<Consumer>();
  Executor executor;
  Hand hand(before(handler_of(consumer), sim(0), executor.options()));
  hand.end();
  hand.release();
  executor.run();
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->code == EINVAL);
  CHECK(contains(consumer->text, "before its schema"));
}

TEST_CASE("a refused task stays with its producer, which is cancelled") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  const int32_t malformed[] = {-1};
  auto consumer = std::make_shared<Consumer>();
  Hand hand(before(handler_of(consumer), sim(0)));
  hand.schema(sample.type);
  const auto array = [&] { return from_host(make_array(generate(sample.type, sample.knobs), ledger)); };
  CHECK(hand.task(array(), reinterpret_cast<const char*>(malformed)) == 0);
  CHECK(hand.unextracted() == 0);
  CHECK(hand.cancels() == 1);
  CHECK(hand.task(array()) == 0);  // this array comes too late
  hand.release();
  consumer->wait_for_release();
  CHECK(consumer->calls() == "SXR");
  CHECK(consumer->code == EINVAL);
  CHECK(contains(consumer->text, "metadata"));
  until([&] { return hand.unextracted() == 0; });
  CHECK(ledger.live() == 0);
}

TEST_CASE("a failed extraction is reported downstream with the producer's text") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  for (const bool says_why : {true, false}) {
    const Ledger ledger;
    auto consumer = std::make_shared<Consumer>();
    Hand hand(before(handler_of(consumer), sim(0)));
    if (says_why) {
      hand.at_failed_extraction = [&] { std::thread([&] { hand.error(EREMOTEIO, "the disk is gone"); }).join(); };
    }
    hand.schema(sample.type);
    hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger)), nullptr, ENODATA);
    consumer->wait_for_release();
    CHECK(consumer->calls() == "SXR");
    CHECK(consumer->code == (says_why ? EREMOTEIO : ENODATA));
    CHECK(contains(consumer->text, says_why ? "the disk is gone" : "extract_data"));
    CHECK(hand.cancels() == (says_why ? 0 : 1));
    hand.release();
    CHECK(ledger.live() == 0);
  }
}

// The struct as the format's published text defines it.
struct PublishedProducer {
  ArrowDeviceType device_type;
  void (*request)(ArrowAsyncProducer*, int64_t);
  void (*cancel)(ArrowAsyncProducer*);
  void (*release)(ArrowAsyncProducer*);
  const char* additional_metadata;
  void* private_data;
};

TEST_CASE("the library's producer has its metadata in both layouts of the format") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const std::string some = encode_metadata({{"rows", "5"}});
  for (const bool has_metadata : {true, false}) {
    auto consumer = std::make_shared<Consumer>();
    const char *shipped = nullptr, *published = nullptr;
    consumer->on_schema = [&](Consumer& told) {
      shipped = told.producer->additional_metadata;
      PublishedProducer whole;
      std::memcpy(&whole, static_cast<const void*>(told.producer), sizeof whole);
      published = whole.additional_metadata;
      CHECK(whole.private_data == nullptr);
      whole.request(told.producer, 10);
      return 0;
    };
    auto options = async_options();
    options.upstream_layout = ARROWDEVICE_ASYNC_LAYOUT_40_BYTES;
    Executor executor;
    options.submit = Executor::submit;
    options.user = &executor;
    Hand hand(before(handler_of(consumer), sim(0), options));
    if (has_metadata) hand.producer().additional_metadata = some.data();
    hand.schema(sample.type);
    executor.run();
    CHECK(published == shipped);
    REQUIRE((shipped != nullptr) == has_metadata);
    if (has_metadata) CHECK(std::memcmp(shipped, some.data(), some.size()) == 0);
    hand.end();
    hand.release();
    executor.run();
    CHECK(consumer->calls() == "SER");
  }
}

TEST_CASE("texts of errors are UTF-8 behind a handler") {
  begin();
  auto consumer = std::make_shared<Consumer>();
  Hand hand(before(handler_of(consumer), sim(0)));
  hand.error(EIO, "bad \xff\xc3 and \xc3\xa4");
  hand.release();
  consumer->wait_for_release();
  CHECK(consumer->text == "bad ?? and \xc3\xa4");
}

TEST_CASE("metadata is passed on, a producer's only if the program names its layout") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const std::string some = encode_metadata({{"rows", "5"}});
  struct Published {
    ArrowDeviceType device_type;
    void (*request)(ArrowAsyncProducer*, int64_t);
    void (*cancel)(ArrowAsyncProducer*);
    void (*release)(ArrowAsyncProducer*);
    const char* additional_metadata;
    void* private_data;
  };
  for (const int32_t layout :
       {ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN, ARROWDEVICE_ASYNC_LAYOUT_40_BYTES, ARROWDEVICE_ASYNC_LAYOUT_48_BYTES}) {
    const Ledger ledger;
    auto consumer = std::make_shared<Consumer>();
    auto options = async_options();
    options.upstream_layout = layout;
    auto* const handler = before(handler_of(consumer), sim(0), options);
    Hand hand(handler);
    hand.producer().additional_metadata = some.data();
    if (layout != ARROWDEVICE_ASYNC_LAYOUT_48_BYTES) {
      hand.schema(sample.type);
    } else {
      static int asked = 0;
      Published published{ARROW_DEVICE_CPU,
                          [](ArrowAsyncProducer*, int64_t) { ++asked; },
                          [](ArrowAsyncProducer*) {},
                          nullptr,
                          some.data(),
                          nullptr};
      auto schema = make_schema(sample.type);
      handler->producer = reinterpret_cast<ArrowAsyncProducer*>(&published);
      CHECK(handler->on_schema(handler, schema.get()) == 0);
      CHECK(asked == 1);
      handler->producer = &hand.producer();
      hand.release();
      consumer->wait_for_release();
      CHECK(consumer->additional_metadata == some);
      continue;
    }
    hand.task(from_host(make_array(generate(sample.type, sample.knobs), ledger)), some.data());
    hand.end();
    hand.release();
    consumer->wait_for_release();
    CHECK(consumer->calls() == "STER");
    CHECK(consumer->metadata[0] == some);
    const bool knows = layout == ARROWDEVICE_ASYNC_LAYOUT_40_BYTES;
    CHECK(consumer->additional_metadata == (knows ? some : ""));
  }
}

TEST_CASE("invalid arguments of async_to_device are refused") {
  begin();
  auto consumer = std::make_shared<Consumer>();
  auto* const handler = handler_of(consumer);
  ArrowAsyncDeviceStreamHandler* upstream = nullptr;
  must_fail(EINVAL, arrowdevice_async_to_device, nullptr, sim(0), nullptr, &upstream);
  must_fail(EINVAL, arrowdevice_async_to_device, handler, nullptr, nullptr, &upstream);
  must_fail(EINVAL, arrowdevice_async_to_device, handler, sim(0), nullptr, nullptr);
  auto options = async_options();
  options.copy_flags = 1u << 9;
  must_fail_saying(EINVAL, "copy_flags", arrowdevice_async_to_device, handler, sim(0), &options, &upstream);
  CHECK(upstream == nullptr);
  CHECK(consumer->calls() == "");
  handler->release(handler);
}

TEST_CASE("an unusable queue or pool is refused at once, without a call downstream") {
  begin();
  const Queue on_cpu = make_queue(cpu());
  auto consumer = std::make_shared<Consumer>();
  ArrowAsyncDeviceStreamHandler* const downstream = handler_of(consumer);
  ArrowAsyncDeviceStreamHandler* upstream = nullptr;
  auto options = async_options();
  options.queue = on_cpu.get();
  std::string why = must_fail(EINVAL, arrowdevice_async_to_device, downstream, sim(0), &options, &upstream);
  CHECK(contains(why, "a queue of cpu:0 cannot copy to ext_dev:0"));
  options.source_device = sim(1);
  why = must_fail(EINVAL, arrowdevice_async_to_device, downstream, sim(0), &options, &upstream);
  CHECK(contains(why, "a queue of cpu:0 cannot copy from ext_dev:1 to ext_dev:0"));
  options = async_options();
  options.pool = default_pool(sim(1));
  why = must_fail(EINVAL, arrowdevice_async_to_device, downstream, sim(0), &options, &upstream);
  CHECK(contains(why, "the pool is of ext_dev:1, not of ext_dev:0"));
  CHECK(upstream == nullptr);
  CHECK(consumer->calls() == "");
  downstream->release(downstream);
}

TEST_CASE("an unusable queue for the producer's device fails before the first array") {
  begin();
  const Queue on_sim = make_queue(sim(0));
  auto consumer = std::make_shared<Consumer>();
  auto options = async_options();
  options.queue = on_sim.get();  // the producer's device is not known yet, so the options are accepted
  Hand hand(before(handler_of(consumer), cpu(), options));
  hand.schema(field("i"));
  consumer->wait_for_release();
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->code == EINVAL);
  CHECK(contains(consumer->text, "a queue of ext_dev:0 cannot copy from cpu to cpu:0"));
  hand.release();
}

}  // namespace
