// SPDX-License-Identifier: Apache-2.0
// Each backend call for a stream fails in turn, on any thread; see trial.h. In addition to the general
// conditions, the batches before the failure must arrive complete and in order. The producer must be
// released.
#include <cstdio>

#include "faults/trial.h"
#include "unit/stream_handler.h"

namespace {

using namespace faults;       // NOLINT: what every line of these tests is written with
using namespace stream_test;  // NOLINT: the same

constexpr int64_t kHost = -1;
constexpr int64_t kBatches = 3;

arrowdevice_device* device(int64_t id) { return id == kHost ? cpu() : sim(id); }

struct Way {
  const char* text;
  int64_t from, to;
  Peers peers = Peers::kCopy;
};

constexpr Way kToAddresses{"host to addresses", kHost, kAddresses[0]};
constexpr Way kToHandles{"host to handles", kHost, kHandles[0]};
constexpr Way kFromAddresses{"addresses to host", kAddresses[0], kHost};
constexpr Way kFromHandles{"handles to host", kHandles[0], kHost};
constexpr Way kDirect{"addresses to handles", kAddresses[0], kHandles[0]};
constexpr Way kStaged{"addresses to handles, staged", kAddresses[0], kHandles[0], Peers::kNone};
constexpr Way kStagedBack{"handles to addresses, staged", kHandles[0], kAddresses[0], Peers::kNone};

// The number of live schemas from producers. A stream and its threads hold schemas until the last of them
// has made its last backend call.
std::atomic<int64_t> held_schemas{0};

struct CountedSchema {
  ArrowSchema inner;

  static void release(ArrowSchema* schema) {
    const std::unique_ptr<CountedSchema> counted(static_cast<CountedSchema*>(schema->private_data));
    counted->inner.release(&counted->inner);
    schema->release = nullptr;
    --held_schemas;
  }
};

decltype(ArrowDeviceArrayStream::get_schema) get_uncounted_schema;

int get_counted_schema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
  const int code = get_uncounted_schema(self, out);
  if (code != 0) return code;
  out->private_data = new CountedSchema{*out};
  out->release = CountedSchema::release;
  ++held_schemas;
  return 0;
}

// Batches of rows, and the path they take.
struct Flow {
  Flow(const Way& along, const Ledger& ledger)
      : way(along),
        sample(mixed_batch(), {.rows = kBatches * kRows}),
        in(from_host(make_array(generate(sample.type, sample.knobs), ledger))) {
    if (way.from == kHost) return;
    Array there = copy(*in, *sample.schema, device(way.from), ARROWDEVICE_COPY_ASYNC);
    must(arrowdevice_array_wait, there.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    in = std::move(there);  // complete, but still with its event
  }

  const Way way;
  const Sample sample;
  Array in;  // each run shares it with its producer
  std::vector<Array> came;

  DeviceStream produce(const std::shared_ptr<Producer>& producer) {
    for (int64_t batch = 0; batch < kBatches; ++batch) {
      producer->steps.push_back({slice(*in, *sample.schema, batch * kRows, kRows)});
    }
    DeviceStream stream = stream_of(producer, in->device_type);
    get_uncounted_schema = stream->get_schema;
    stream->get_schema = get_counted_schema;
    return stream;
  }

  // Reads to the end or to the first failure. `begin` makes a stream from the producer's stream.
  template <typename Begin>
  int run(Begin begin, arrowdevice_error* error) {
    came.clear();
    const auto producer = std::make_shared<Producer>(sample.type);
    int code = 0;
    {
      DeviceStream produced = produce(producer);
      auto stream = begin(*this, produced, code, error);
      if (code == 0) code = read(stream, error);
    }
    until([&] { return producer->releases == 1 && held_schemas == 0; });
    CHECK_FALSE(producer->overlapped);
    return code;
  }

  template <typename Stream>
  int read(Stream& stream, arrowdevice_error* error) {
    for (;;) {
      Array batch;
      if (const int code = next_of(stream, batch); code != 0) {
        CHECK(batch.released());
        error->code = code;
        std::snprintf(error->backend, sizeof error->backend, "sim");  // a stream only has a text
        std::snprintf(error->message, sizeof error->message, "%s", stream->get_last_error(stream.get()));
        return code;
      }
      if (batch.released()) return 0;
      if (const int code = arrowdevice_array_wait(batch.get(), nullptr, ARROWDEVICE_NO_TIMEOUT, error); code != 0)
        return code;
      came.push_back(std::move(batch));
    }
  }

  static int next_of(DeviceStream& stream, Array& out) { return stream->get_next(stream.get(), out.out()); }
  static int next_of(HostStream& stream, Array& out) {
    Owned<ArrowArray> array;
    const int code = stream->get_next(stream.get(), array.out());
    if (!array.released()) out = from_host(std::move(array));
    return code;
  }

  void check_batches() {
    for (size_t i = 0; i < came.size(); ++i) {
      INFO("batch " << i << " of " << came.size() << " that came");
      CHECK(came[i]->device_type == device_type());
      REQUIRE(came[i]->array.length == kRows);
      CHECK(difference(sample, *came[i], static_cast<int64_t>(i) * kRows) == "");
    }
  }
  ArrowDeviceType device_type() const { return way.to == kHost ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV; }

  void check_refused() {
    CHECK(came.size() < static_cast<size_t>(kBatches));
    check_batches();
    check_input();
    came.clear();
  }
  void check_done() {
    CHECK(came.size() == static_cast<size_t>(kBatches));
    check_batches();
    check_input();
    came.clear();
  }
  void check_input() {
    REQUIRE_FALSE(in.released());
    CHECK(difference(sample, *in) == "");
  }
};

template <typename Begin>
Operation flowing(const char* name, const Way& way, const char* how, Begin begin) {
  return {.name = name,
          .variant = std::string(way.text) + how,
          .make =
              [way, begin] {
                Trial trial;
                const auto flow = std::make_shared<Flow>(way, trial.ledger);
                trial.run = [flow, begin](auto* error) { return flow->run(begin, error); };
                trial.check_refused = [flow] { flow->check_refused(); };
                trial.check_done = [flow](bool) { flow->check_done(); };
                return trial;
              },
          // If an event query fails, the memory is freed at once, because a failed query means a failed
          // event. Before it moves a batch, a stream asks if the move occupies its thread. If that query
          // fails, the move itself asks again.
          .may_survive = {"event_query", "device_get_peer_flags", "device_locate"},
          .peers = way.peers,
          .calls_vary = true};
}

Operation moving(const Way& way, uint32_t flags) {
  return flowing("stream_to_device", way, flags != 0 ? ", reading ahead" : "",
                 [flags](Flow& flow, DeviceStream& produced, int& code, arrowdevice_error* error) {
                   const auto options = stream_options(flags);
                   DeviceStream stream;
                   code =
                       arrowdevice_stream_to_device(produced.get(), device(flow.way.to), &options, stream.out(), error);
                   return stream;
                 });
}

Operation to_host(const Way& way, uint32_t flags) {
  return flowing("stream_to_host", way, flags != 0 ? ", reading ahead" : "",
                 [flags](Flow&, DeviceStream& produced, int& code, arrowdevice_error* error) {
                   const auto options = stream_options(flags);
                   HostStream stream;
                   code = arrowdevice_stream_to_host(produced.get(), &options, stream.out(), error);
                   return stream;
                 });
}

// Returns an operation that produces, moves and collects batches, each on its own thread.
Operation collecting(const Way& way) {
  return flowing("async_to_device", way, "",
                 [](Flow& flow, DeviceStream& produced, int& code, arrowdevice_error* error) {
                   const auto options = async_options();
                   ArrowAsyncDeviceStreamHandler* collector = nullptr;
                   ArrowAsyncDeviceStreamHandler* mover = nullptr;
                   DeviceStream stream;
                   code = arrowdevice_async_collect(flow.device_type(), &options, &collector, stream.out(), error);
                   if (code == 0)
                     code = arrowdevice_async_to_device(collector, device(flow.way.to), &options, &mover, error);
                   if (code == 0) code = arrowdevice_async_produce(produced.get(), mover, &options, error);
                   return stream;
                 });
}

void check_reached(const std::string& operation, std::initializer_list<const char*> functions) {
  for (const char* function : functions) {
    INFO(operation << ": " << function);
    CHECK(was_reached(operation, function));
  }
}

constexpr uint32_t kReadAhead = ARROWDEVICE_STREAM_READ_AHEAD;

TEST_CASE("streams that move survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kToAddresses, kToHandles, kFromAddresses, kDirect, kStaged, kStagedBack}) {
    for (const uint32_t flags : {uint32_t{0}, kReadAhead}) exercise(moving(way, flags));
  }
  check_reached("stream_to_device", {"buffer_allocate", "queue_create", "queue_copy", "event_record", "event_wait",
                                     "event_publish", "event_import", "sub_buffer_create", "event", "lost"});
}

TEST_CASE("streams to the host survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kFromAddresses, kFromHandles}) {
    for (const uint32_t flags : {uint32_t{0}, kReadAhead}) exercise(to_host(way, flags));
  }
  check_reached("stream_to_host", {"queue_create", "queue_copy", "event_record", "event_wait", "event", "lost"});
}

TEST_CASE("async streams survive the failure of any backend call", "[faults]") {
  for (const Way& way : {kToAddresses, kToHandles, kFromHandles, kStaged}) exercise(collecting(way));
  check_reached("async_to_device", {"buffer_allocate", "queue_create", "queue_copy", "event_record", "event_wait",
                                    "event_publish", "event_import", "sub_buffer_create", "event", "lost"});
}

}  // namespace
