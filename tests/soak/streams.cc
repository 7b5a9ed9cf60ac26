// SPDX-License-Identifier: Apache-2.0
// Operations on streams: batches through several pull and async stages, to the end or not.
#include "report.h"
#include "worker.h"

namespace soak {

namespace {

constexpr int kProducersError = EREMOTEIO;

// A producer of the program. It returns its arrays, and fails before an array or never.
struct Producer {
  Schema schema;
  std::vector<Array> arrays;
  int64_t fails_at;  // negative: never
  std::atomic<int64_t>* live;
  size_t given = 0;

  static Producer& of(ArrowDeviceArrayStream* self) { return *static_cast<Producer*>(self->private_data); }
  static int get_schema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
    return arrowdevice_schema_copy(of(self).schema.get(), out, nullptr);
  }
  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
    Producer& producer = of(self);
    out->array.release = nullptr;
    if (static_cast<int64_t>(producer.given) == producer.fails_at) return kProducersError;
    if (producer.given < producer.arrays.size()) *out = producer.arrays[producer.given++].take();
    return 0;
  }
  static const char* get_last_error(ArrowDeviceArrayStream*) { return "a producer failed, as it was to"; }
  static void release(ArrowDeviceArrayStream* self) {
    auto* const live = of(self).live;
    delete &of(self);
    self->release = nullptr;
    --*live;
  }
};

Stream stream_of(Producer* producer, ArrowDeviceType type) {
  ++*producer->live;
  ArrowDeviceArrayStream stream{};
  stream.device_type = type;
  stream.get_schema = Producer::get_schema;
  stream.get_next = Producer::get_next;
  stream.get_last_error = Producer::get_last_error;
  stream.release = Producer::release;
  stream.private_data = producer;
  return Stream(stream);
}

}  // namespace

// A stream, and the batches that must come out of it.
struct Worker::Flow {
  std::vector<Item> batches;  // without their arrays
  int64_t fails_at = -1;      // the producer fails before that batch; negative: never
  size_t place = 0;           // of the output
  Risk risk{.streamed = true};
  bool is_cancelled = false;
  std::vector<arrowdevice_queue*> queues;  // its own queues

  ~Flow() {
    for (auto* queue : queues) arrowdevice_queue_destroy(queue);
  }
};

void Worker::flow(bool is_async) {
  Flow flow;  // outlives the stream, which uses its queues
  Stream stream = produced(flow);
  for (int64_t stages = 1 + dice_.below(2); stages > 0; --stages) {
    if (is_async && stages == 1) {
      stream = handed_on(flow, std::move(stream));
    } else {
      stream = one_in(3) ? over_the_host(flow, std::move(stream)) : pulled(flow, std::move(stream));
    }
  }
  consume(flow, *stream);
}

Item Worker::some_batch(const std::shared_ptr<const Rows>& rows, size_t place) {
  HostArray host = rows->host(run_.ledger);
  Item batch;
  batch.rows = rows;
  Array whole = output_of(arrowdevice_array_from_host, host.get());
  batch.first = dice_.below(rows->length() + 1);
  const int64_t length = dice_.below(rows->length() - batch.first + 1);
  must(arrowdevice_array_slice, whole.get(), &rows->schema(), batch.first, length, batch.array.out());
  if (place == 0) return batch;
  Array there = output_of(arrowdevice_array_copy, batch.array.get(), &rows->schema(), at(place).device, nullptr);
  return batch.with(std::move(there));
}

Stream Worker::produced(Flow& flow) {
  const auto rows = Rows::some(dice_);
  flow.place = one_in(2) ? 0 : some_place();
  if (at(flow.place).is_small()) flow.place = 0;
  std::vector<Array> arrays;
  for (int64_t n = dice_.below(6); n > 0; --n) {
    Item batch = some_batch(rows, flow.place);
    arrays.push_back(std::move(batch.array));
    flow.batches.push_back(std::move(batch));
  }
  Schema schema;
  must(arrowdevice_schema_copy, &rows->schema(), schema.out());
  const ArrowDeviceType type = at(flow.place).info.device_type;
  const auto n = static_cast<int64_t>(arrays.size());
  if (one_in(2)) {
    if (one_in(4)) flow.fails_at = dice_.below(n + 1);
    return stream_of(new Producer{std::move(schema), std::move(arrays), flow.fails_at, &run_.producers}, type);
  }
  std::vector<ArrowDeviceArray> given;
  for (Array& array : arrays) given.push_back(array.take());
  Stream stream;
  must(arrowdevice_stream_from_arrays, schema.get(), given.data(), n, type, stream.out());
  return stream;
}

arrowdevice_stream_options Worker::some_stream_options(Flow& flow, size_t to) {
  auto options = sized<arrowdevice_stream_options>();
  options.flags = one_in(2) ? ARROWDEVICE_STREAM_READ_AHEAD : 0;
  options.depth = static_cast<int32_t>(below(9));
  if (one_in(4)) options.copy_flags = one_in(2) ? ARROWDEVICE_COPY_NO_TRIM : ARROWDEVICE_COPY_ALWAYS;
  if (one_in(4)) {
    flow.queues.push_back(make_queue(place_of_work(flow.place, to)));
    options.queue = flow.queues.back();
  }
  if (one_in(4)) {
    options.pool = pools_[to].handle;
    flow.risk.full |= pools_[to].is_capped;
  }
  if (one_in(20)) {
    options.timeout_ns = 1 + dice_.below(100'000);
    flow.risk.brief = true;
  }
  flow.risk.full |= at(to).is_small();
  return options;
}

Stream Worker::pulled(Flow& flow, Stream upstream) {
  const size_t to = some_place();
  const auto options = some_stream_options(flow, to);
  Stream out;
  must(arrowdevice_stream_to_device, upstream.get(), at(to).device, &options, out.out());
  flow.place = to;
  return out;
}

Stream Worker::over_the_host(Flow& flow, Stream upstream) {
  const auto options = some_stream_options(flow, 0);
  arrowdevice::testing::Owned<ArrowArrayStream> host;
  must(arrowdevice_stream_to_host, upstream.get(), &options, host.out());
  Stream out;
  must(arrowdevice_stream_from_host, host.get(), out.out());
  flow.place = 0;
  return out;
}

// Passes the stream through an async pair, with or without a device between them.
Stream Worker::handed_on(Flow& flow, Stream upstream) {
  const bool moves = !one_in(4);
  const size_t to = moves ? some_place() : flow.place;
  const auto pull_options = some_stream_options(flow, to);
  auto options = sized<arrowdevice_async_options>();
  options.depth = pull_options.depth;
  options.copy_flags = pull_options.copy_flags;
  options.queue = pull_options.queue;
  options.pool = pull_options.pool;
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  Stream out;
  must(arrowdevice_async_collect, at(to).info.device_type, &options, &handler, out.out());
  if (moves) {
    must(arrowdevice_async_to_device, handler, at(to).device, &options, &handler);
  }
  must(arrowdevice_async_produce, upstream.get(), handler, nullptr);
  flow.place = to;
  return out;
}

void Worker::consume(Flow& flow, ArrowDeviceArrayStream& stream) {
  const auto n = static_cast<int64_t>(flow.batches.size());
  const int64_t most = one_in(3) ? dice_.below(n + 1) : n + 1;  // reads the end too, or releases the stream early
  const int64_t cancelled_at = one_in(8) ? dice_.below(n + 1) : -1;
  for (int64_t i = 0; i < most; ++i) {
    if (i == cancelled_at) {
      must(arrowdevice_stream_cancel, &stream);
      flow.is_cancelled = true;
    }
    if (!take_batch(flow, stream, i)) return;
  }
}

// Takes a batch. Returns false if it was the last.
bool Worker::take_batch(Flow& flow, ArrowDeviceArrayStream& stream, int64_t number) {
  Risk risk = flow.risk;
  if (number == flow.fails_at) risk.also = kProducersError;
  if (flow.is_cancelled) risk.also = ECANCELED;
  Array out;
  const auto next = [&](auto* error) { return arrowdevice_stream_get_next(&stream, out.out(), error); };
  const Outcome outcome = call("stream_get_next", risk, next);
  flow.risk.spoiled |= outcome.spoils;
  if (flow.is_cancelled) expect_equal(outcome.code, ECANCELED, "the answer of a cancelled stream");
  if (outcome.code != 0) {
    expect(out.released(), "stream_next failed and gave an array");
    arrowdevice_error error{};
    const Planned nothing;
    expect_equal(next(&error), outcome.code, "the second answer of a stream that failed");
    return false;
  }
  const auto n = static_cast<int64_t>(flow.batches.size());
  if (out.released()) {
    expect_equal(number, n, "batches of a stream");
    expect(flow.fails_at < 0, "a stream ended though its producer failed");
    return false;
  }
  expect(number < n && number != flow.fails_at, "a stream gave more than it was to");
  const Item& expected = flow.batches[static_cast<size_t>(number)];
  Item item = expected.with(std::move(out));
  item.is_spoiled = flow.risk.spoiled;
  expect_equal(static_cast<int64_t>(place_of(item)), static_cast<int64_t>(flow.place), "the place of a batch");
  if (one_in(4)) {
    keep(std::move(item));
  } else if (!one_in(4)) {
    check_rows(item);
  }
  return true;
}

}  // namespace soak
