// SPDX-License-Identifier: Apache-2.0
// Async streams between Arrow C++ and the library. Each of them is the producer of the other, and the
// library also stands between two. The cases have the names of Arrow's own tests if these exist.
#include <thread>

#include "async_peer.h"

namespace {

using namespace arrow_cpp_test;  // NOLINT: what every line of these tests is written with

// Returns a handler of the library, and the stream of the arrays on the simulated device that the handler gets.
Collected collect_on_sim(int32_t depth = 0) { return collect(ARROW_DEVICE_EXT_DEV, depth); }

ArrowAsyncDeviceStreamHandler* moving_to(arrowdevice_device* to, ArrowAsyncDeviceStreamHandler* downstream) {
  ArrowAsyncDeviceStreamHandler* upstream = nullptr;
  const arrowdevice_async_options* defaults = nullptr;
  must(arrowdevice_async_to_device, downstream, to, defaults, &upstream);
  return upstream;
}

void produce(DeviceStream stream, ArrowAsyncDeviceStreamHandler* handler,
             const arrowdevice_async_options* options = nullptr) {
  must(arrowdevice_async_produce, stream.get(), handler, options);
  REQUIRE(stream.released());
}

Generator failing(std::vector<BatchPtr> good, arrow::Status status) {
  return [good = std::move(good), next = std::make_shared<size_t>(0), status] {
    return *next < good.size() ? arrow::Future<BatchPtr>::MakeFinished(good[(*next)++])
                               : arrow::Future<BatchPtr>::MakeFinished(status);
  };
}

DeviceStream on_sim(const std::vector<BatchPtr>& batches) {
  DeviceStream stream;
  ok(arrow::ExportDeviceRecordBatchReader(ok(arrow::RecordBatchReader::Make(to_sim(batches), ints(), kSim)),
                                          stream.out()));
  return to_device(std::move(stream), sim(1));
}

// Checks that all buffers of Arrow C++ are freed in the end, on any thread.
class NoneLeft {
 public:
  NoneLeft() : live_(live_buffers()) {}
  ~NoneLeft() {
    until([&] { return live_buffers() == live_; });
  }

 private:
  const int64_t live_;
};

TEST_CASE("TestAsyncDeviceArrayStreamRoundTrip.Simple: from Arrow C++ to the library") {
  begin();
  const NoneLeft none;
  const auto batches = ints_batches(20);
  for (const int32_t depth : {1, 3, 100}) {
    auto [handler, stream] = collect_on_sim(depth);
    ArrowProducer producer(ints(), arrow::MakeVectorGenerator(to_sim(batches)), kSim, handler);
    Owned<ArrowSchema> schema;
    must(arrowdevice_stream_get_schema, stream.get(), schema.out());
    CHECK(ok(arrow::ImportSchema(schema.get()))->Equals(*ints()));
    for (const auto& batch : batches) CHECK(same(*batch, *read_next(stream, ints())));
    for (int i = 0; i < 2; ++i) CHECK(next(stream).released());
    ok(producer.wait());
  }
}

TEST_CASE("TestAsyncDeviceArrayStreamRoundTrip.Simple: from the library to Arrow C++") {
  begin();
  const NoneLeft none;
  const auto batches = ints_batches(20);
  auto options = async_options();
  for (const bool on_pool : {false, true}) {
    if (on_pool) {
      options.submit = [](void*, void (*task)(void*), void* arg) {
        return pool()->Spawn([=] { task(arg); }).ok() ? 0 : EIO;
      };
    }
    for (const uint64_t queue_size : {1, 5}) {
      ArrowConsumer consumer(queue_size);
      CHECK(!consumer.stream.is_finished());
      produce(on_sim(batches), consumer.handler(), &options);
      const auto stream = ok(consumer.stream.result());
      CHECK(stream.schema->Equals(*ints()));
      CHECK(stream.device_type == kSim);
      for (const auto& batch : batches) CHECK(same(*batch, *consumer.next()));
      CHECK(consumer.next() == nullptr);
    }
  }
}

TEST_CASE("TestAsyncDeviceArrayStreamRoundTrip.Simple: through the library") {
  begin();
  const NoneLeft none;
  const auto batches = ints_batches(20);
  ArrowConsumer consumer;
  ArrowProducer producer(ints(), arrow::MakeVectorGenerator(to_sim(batches)), kSim,
                         moving_to(sim(1), consumer.handler()));
  CHECK(ok(consumer.stream.result()).schema->Equals(*ints()));
  for (const auto& batch : batches) CHECK(same(*batch, *consumer.next()));
  CHECK(consumer.next() == nullptr);
  ok(producer.wait());
}

TEST_CASE("TestAsyncDeviceArrayStreamRoundTrip.NullSchema") {
  begin();
  const auto export_none = [](ArrowAsyncDeviceStreamHandler* handler) {
    return arrow::ExportAsyncRecordBatchReader(nullptr, nullptr, arrow::DeviceAllocationType::kCPU, handler).status();
  };
  auto [handler, stream] = collect_on_sim();
  CHECK(export_none(handler).IsInvalid());
  Owned<ArrowSchema> schema;
  CHECK(stream->get_schema(stream.get(), schema.out()) == EINVAL);
  CHECK(stream->get_last_error(stream.get()) == std::string("Schema is null"));

  ArrowConsumer behind;
  CHECK(export_none(moving_to(sim(0), behind.handler())).IsInvalid());
  CHECK(fails_with(behind.stream.status(), arrow::StatusCode::UnknownError, "Schema is null"));

  auto without = std::make_shared<Producer>(field("i"));
  without->schema_code = EIO;
  ArrowConsumer consumer;
  produce(stream_of(without), consumer.handler());
  CHECK(fails_with(consumer.stream.status(), arrow::StatusCode::UnknownError, "no schema today"));
}

// Arrow C++ drops its queued batches when an error arrives, so no batch comes before the error here.
TEST_CASE("TestAsyncDeviceArrayStreamRoundTrip.PropagateError") {
  begin();
  const NoneLeft none;
  const auto failure = arrow::Status::UnknownError("expected failure");
  {
    const auto batches = ints_batches();
    auto [handler, stream] = collect_on_sim();
    ArrowProducer producer(ints(), failing(to_sim(batches), failure), kSim, handler);
    for (const auto& batch : batches) CHECK(same(*batch, *read_next(stream, ints())));
    for (int i = 0; i < 2; ++i) CHECK(contains(next_fails(EINVAL, stream), "expected failure"));
    CHECK(producer.wait().IsUnknownError());
  }
  {
    ArrowConsumer consumer;
    ArrowProducer producer(ints(), failing({}, failure), kSim, moving_to(sim(1), consumer.handler()));
    CHECK(fails_with(consumer.next_status(), arrow::StatusCode::UnknownError, "expected failure"));
    CHECK(producer.wait().IsUnknownError());
  }
  {
    auto source = std::make_shared<Producer>(struct_of({field("i")}));
    source->steps.push_back({Array(), EREMOTEIO, "the net is down"});
    ArrowConsumer consumer;
    produce(stream_of(source), consumer.handler());
    const auto status = consumer.next_status();
    CHECK(fails_with(status, arrow::StatusCode::UnknownError, "the net is down"));
    REQUIRE(status.detail() != nullptr);
    CHECK(static_cast<const arrow::AsyncErrorDetail&>(*status.detail()).code() == EREMOTEIO);
  }
}

// Endless batches with a count.
struct Endless {
  explicit Endless(BatchPtr every) : batch(std::move(every)) {}
  Generator generator() {
    return [this] { return ++calls, arrow::Future<BatchPtr>::MakeFinished(batch); };
  }
  const BatchPtr batch;
  std::atomic<int64_t> calls{0};
};

TEST_CASE("a slow consumer holds a producer of Arrow C++ back, and cancelling it ends that") {
  begin();
  const NoneLeft none;
  const auto expected = ints_batches(1)[0];
  Endless endless(to_sim(expected));
  auto [handler, stream] = collect_on_sim(3);
  ArrowProducer producer(ints(), endless.generator(), kSim, handler);
  for (int64_t taken = 1; taken <= 50; ++taken) {
    CHECK(same(*expected, *read_next(stream, ints())));
    // Arrow C++ makes another batch before it waits for a request. The request comes before the batch is
    // taken.
    CHECK(endless.calls <= taken + 4);
  }
  must(arrowdevice_stream_cancel, stream.get());
  next_fails(ECANCELED, stream);
  CHECK(producer.wait().IsCancelled());
  next_fails(ECANCELED, stream);
}

TEST_CASE("a stream that is closed early ends a producer of Arrow C++") {
  begin();
  const NoneLeft none;
  const auto expected = ints_batches(1)[0];
  for (const int32_t depth : {1, 5}) {
    Endless endless(to_sim(expected));
    auto [handler, stream] = collect_on_sim(depth);
    ArrowProducer producer(ints(), endless.generator(), kSim, handler);
    CHECK(same(*expected, *read_next(stream, ints())));
    stream.reset();
    CHECK(producer.wait().IsCancelled());
  }
}

// A stream through the library to a consumer. The test controls each step of the consumer.
struct Behind {
  explicit Behind(int (*on_task)(Consumer&, ArrowAsyncTask*), int64_t requested = 2) {
    consumer->on_schema = [requested](Consumer& told) { return told.request(requested), 0; };
    consumer->on_task = on_task;
  }
  ArrowAsyncDeviceStreamHandler* handler() const { return moving_to(sim(1), handler_of(consumer)); }

  const std::shared_ptr<Consumer> consumer = std::make_shared<Consumer>();
};

int keep(Consumer& consumer, ArrowAsyncTask* task) { return consumer.keep_data(task); }
int refuse(Consumer&, ArrowAsyncTask*) { return EIO; }

TEST_CASE("a slow consumer behind the library limits Arrow C++ until it cancels") {
  begin();
  const NoneLeft none;
  const auto expected = ints_batches(1)[0];
  Endless endless(to_sim(expected));
  const Behind behind(keep);
  auto& consumer = *behind.consumer;
  ArrowProducer producer(ints(), endless.generator(), kSim, behind.handler());
  consumer.wait_for_tasks(2);
  CHECK(endless.calls <= 2 + 4 + 1);  // passed on, requested ahead, and waiting for a request
  consumer.request(1);
  consumer.wait_for_tasks(3);
  CHECK(endless.calls <= 3 + 4 + 1);
  consumer.cancel();
  consumer.wait_for_release();
  CHECK(consumer.calls() == "STTTR");
  CHECK(producer.wait().IsCancelled());
  for (auto& array : consumer.arrays) CHECK(same(*expected, *read(*array, ints())));
}

TEST_CASE("a consumer behind the library that refuses a batch ends a producer of Arrow C++") {
  begin();
  const NoneLeft none;
  Endless endless(to_sim(ints_batches(1)[0]));
  const Behind behind(refuse);
  ArrowProducer producer(ints(), endless.generator(), kSim, behind.handler());
  behind.consumer->wait_for_release();
  CHECK(behind.consumer->calls() == "STR");
  CHECK(producer.wait().IsCancelled());
}

TEST_CASE("an error of Arrow C++ arrives behind the library, after the batches before it") {
  begin();
  const NoneLeft none;
  const auto batches = ints_batches();
  const Behind behind(keep, 10);
  auto& consumer = *behind.consumer;
  ArrowProducer producer(ints(), failing(to_sim(batches), arrow::Status::IOError("the net is down")), kSim,
                         behind.handler());
  consumer.wait_for_release();
  CHECK(consumer.calls() == "STTXR");
  CHECK(contains(consumer.text, "the net is down"));
  for (size_t i = 0; i < batches.size(); ++i) CHECK(same(*batches[i], *read(*consumer.arrays[i], ints())));
  CHECK(producer.wait().IsIOError());
}

// The layout in the released Arrow C++ is the layout that the library writes. The library reads it if the
// program requests this.
TEST_CASE("the library reads the layout of Arrow C++'s producer and finds no metadata") {
  static_assert(sizeof(ArrowAsyncProducer) == 40 && offsetof(ArrowAsyncProducer, additional_metadata) == 24);
  begin();
  const NoneLeft none;
  const Behind behind(keep, 10);
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  auto options = async_options();
  options.upstream_layout = ARROWDEVICE_ASYNC_LAYOUT_40_BYTES;
  must(arrowdevice_async_to_device, handler_of(behind.consumer), sim(1), &options, &handler);
  ArrowProducer producer(ints(), arrow::MakeVectorGenerator(to_sim(ints_batches())), kSim, handler);
  behind.consumer->wait_for_release();
  CHECK(behind.consumer->calls() == "STTER");
  CHECK(behind.consumer->additional_metadata == "");
  ok(producer.wait());
}

// After the refusal Arrow C++ continues. It calls on_error if there is a batch, and ends the stream if
// there is none.
TEST_CASE("a stream that is closed before its producer has begun refuses Arrow C++") {
  begin();
  const NoneLeft none;
  for (const int64_t n : {0, 2}) {
    auto [handler, stream] = collect_on_sim();
    stream.reset();
    ArrowProducer producer(ints(), arrow::MakeVectorGenerator(to_sim(ints_batches(n))), kSim, handler);
    CHECK(producer.wait().ok() == (n == 0));
  }
}

TEST_CASE("a producer of Arrow C++ on another device type than the stream's is refused") {
  begin();
  const NoneLeft none;
  for (const int64_t n : {0, 2}) {
    auto [handler, stream] = collect(ARROW_DEVICE_CPU);
    ArrowProducer producer(ints(), arrow::MakeVectorGenerator(to_sim(ints_batches(n))), kSim, handler);
    Owned<ArrowSchema> schema;
    CHECK(stream->get_schema(stream.get(), schema.out()) == EINVAL);
    CHECK(contains(stream->get_last_error(stream.get()), "device type"));
    CHECK(producer.wait().ok() == (n == 0));
  }
}

TEST_CASE("a cancel ends a wait for Arrow C++ while its producer is busy elsewhere") {
  begin();
  const NoneLeft none;
  auto pending = arrow::Future<BatchPtr>::Make();
  auto [handler, stream] = collect_on_sim();
  ArrowProducer producer(
      ints(), [pending] { return pending; }, kSim, handler);
  Owned<ArrowSchema> schema;
  must(arrowdevice_stream_get_schema, stream.get(), schema.out());
  std::thread canceller([stream = stream.get()] { arrowdevice_stream_cancel(stream, nullptr); });
  next_fails(ECANCELED, stream);
  canceller.join();
  pending.MarkFinished(to_sim(ints_batches(1)[0]));
  CHECK(producer.wait().IsCancelled());
}

// The extraction of Arrow C++ returns success but writes nothing.
TEST_CASE("a batch that Arrow C++ cannot export fails the stream") {
  begin();
  const NoneLeft none;
  const auto good = ints_batches(1)[0];
  const auto schema = arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::int32())});
  const auto bad = arrow::RecordBatch::Make(schema, 2, {to_sim(good->column(0), 0), to_sim(good->column(0), 1)});
  {
    auto [handler, stream] = collect_on_sim();
    ArrowProducer producer(schema, arrow::MakeVectorGenerator<BatchPtr>({bad}), kSim, handler);
    for (int i = 0; i < 2; ++i) CHECK(contains(next_fails(EINVAL, stream), "released array"));
  }
  {
    ArrowConsumer consumer;
    ArrowProducer producer(schema, arrow::MakeVectorGenerator<BatchPtr>({bad}), kSim,
                           moving_to(sim(1), consumer.handler()));
    CHECK(fails_with(consumer.next_status(), arrow::StatusCode::UnknownError, "released array"));
  }
}

TEST_CASE("an async device stream accepts Arrow C++'s batch without buffers from the CPU") {
  begin();
  const auto schema = arrow::schema({arrow::field("nothing", arrow::null())});
  const auto batch = arrow::RecordBatch::Make(schema, 3, {from_json(arrow::null(), "[null, null, null]")});
  auto [handler, stream] = collect_on_sim();
  ArrowProducer producer(schema, arrow::MakeVectorGenerator<BatchPtr>({batch}), kSim, handler);
  CHECK(next(stream)->array.length == 3);
}

std::shared_ptr<Producer> host_ints(int64_t n) {
  auto source = std::make_shared<Producer>(struct_of({field("i")}));
  for (const auto& batch : ints_batches(n)) {
    Array array;
    ok(arrow::ExportDeviceRecordBatch(*batch, nullptr, array.out()));
    source->steps.push_back({std::move(array)});
  }
  return source;
}

// Arrow C++ reads 32 batches ahead for any size of its queue.
TEST_CASE("a slow consumer of Arrow C++ holds the library's producer back") {
  begin();
  constexpr int64_t kBatches = 200;
  const auto source = host_ints(kBatches);
  ArrowConsumer consumer;
  produce(stream_of(source), consumer.handler());
  for (int64_t taken = 1; taken <= kBatches; ++taken) {
    REQUIRE(consumer.next() != nullptr);
    CHECK(source->calls <= taken + 40);
  }
  CHECK(consumer.next() == nullptr);
}

// Arrow C++ never cancels, and drops the tasks in its queue. No thread waits for it, and the program can
// cancel.
TEST_CASE("a consumer of Arrow C++ that goes away leaves a producer that can be cancelled") {
  begin();
  const auto source = host_ints(200);
  ArrowConsumer consumer;
  produce(stream_of(source), consumer.handler());
  REQUIRE(consumer.next() != nullptr);
  consumer.drop();
  CHECK(source->releases == 0);
  auto* const producer = consumer.handler()->producer;
  producer->cancel(producer);
  until([&] { return source->releases == 1; });
}

// Arrow C++ requests more with each batch that it takes, even after the release.
TEST_CASE("a late consumer of Arrow C++ may request after the producer's release") {
  begin();
  const NoneLeft none;
  for (auto* to : {static_cast<arrowdevice_device*>(nullptr), cpu(), sim(0)}) {
    ArrowConsumer consumer(5);
    const auto source = host_ints(3);
    produce(stream_of(source), to == nullptr ? consumer.handler() : moving_to(to, consumer.handler()));
    until([&] { return consumer.is_released() && source->releases == 1; });
    for (int batch = 0; batch < 3; ++batch) REQUIRE(consumer.next() != nullptr);
    REQUIRE(consumer.next() == nullptr);
  }
}

TEST_CASE("short streams, one after the other, end while Arrow C++ still asks for more") {
  begin();
  const NoneLeft none;
  for (int i = 0; i < 300; ++i) {
    ArrowConsumer consumer(5);
    const auto source = host_ints(3);
    if (i % 2 == 0) {
      produce(stream_of(source), consumer.handler());
    } else {
      produce(stream_of(source), moving_to(cpu(), consumer.handler()));
    }
    for (int batch = 0; batch < 3; ++batch) REQUIRE(consumer.next() != nullptr);
    REQUIRE(consumer.next() == nullptr);
    consumer.drop();
    until([&] { return source->releases == 1; });
  }
}

TEST_CASE("short streams of Arrow C++, one after the other, are taken or closed as they end") {
  begin();
  const NoneLeft none;
  const auto batches = to_sim(ints_batches(3));
  for (int i = 0; i < 300; ++i) {
    auto [handler, stream] = collect_on_sim(1 + i % 4);
    ArrowProducer producer(ints(), arrow::MakeVectorGenerator(batches), kSim, handler);
    for (int batch = 0; batch < 3; ++batch) REQUIRE(!next(stream).released());
    if (i % 2 == 0) REQUIRE(next(stream).released());
  }
}

}  // namespace
