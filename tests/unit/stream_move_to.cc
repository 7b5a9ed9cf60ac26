// SPDX-License-Identifier: Apache-2.0
// Tests streams that copy batches to another device: the batches, their order, and the calls of the producer.
#include "stream_producer.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("a stream survives the round trip to every device") {
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
      for (const int32_t depth : {0, 1, 5}) {
        const auto options = stream_options(flags, depth);
        auto producer = batches_of(sample, kRows);
        DeviceStream stream = stream_of(producer);
        for (const int64_t id : {0, 1, 2, 3}) stream = to_device(std::move(stream), sim(id), options);
        CHECK(stream->device_type == ARROW_DEVICE_EXT_DEV);
        HostStream home = to_host(std::move(stream), options);
        CHECK(producer->calls == 0);  // no consumer has asked yet
        Owned<ArrowSchema> schema;
        REQUIRE(home->get_schema(home.get(), schema.out()) == 0);
        CHECK(schema->n_children == sample.schema->n_children);
        CHECK(difference_of_rest(sample, kRows, home) == "");
        CHECK_FALSE(producer->overlapped);
        if (flags == 0 && peers == Peers::kCopy) CHECK_FALSE(producer->called_elsewhere);
        home.reset();
        until([&] { return producer->releases == 1; });
      }
    }
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("a bounded number of batches is returned while their copies are pending") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const int32_t depth : {1, 2, 4}) {
    auto producer = batches_of(sample, kRows);
    Held engine(0);
    DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(0, depth));
    const Array first = next(stream);
    CHECK(producer->calls == depth);
    CHECK(first->sync_event != nullptr);
    CHECK(is_ready(*first) == 0);
    const Array second = next(stream);
    CHECK(producer->calls == depth + 1);
    CHECK(is_ready(*second) == 0);
    CHECK_FALSE(producer->called_elsewhere);
    engine.resume();
    CHECK(difference(sample, *first, 0) == "");
    CHECK(difference(sample, *second, kRows) == "");
    CHECK(difference_of_rest(sample, kRows, stream, 2 * kRows) == "");
  }
}

TEST_CASE("a batch on the target device is passed through with its event") {
  begin();
  const Sample sample(field("u"), {.rows = 21});
  Held engine(2);
  auto producer = std::make_shared<Producer>(sample.type);
  producer->steps.push_back({copy(sample, sim(2), ARROWDEVICE_COPY_ASYNC)});
  const void* const event = producer->steps[0].array->sync_event;
  const void* const buffer = producer->steps[0].array->array.buffers[2];
  REQUIRE(event != nullptr);
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(2));
  const Array passed = next(stream);
  CHECK(passed->sync_event == event);
  CHECK(passed->array.buffers[2] == buffer);
  CHECK(is_ready(*passed) == 0);
  engine.resume();
  CHECK(difference(sample, *passed) == "");
}

TEST_CASE("batches may be on different devices, have no rows and have other types") {
  begin();
  for (const Field& type : {mixed_batch(), field("u"), list_of(field("i")), field("b"), field("n")}) {
    const Sample sample(type, {.rows = 21});
    auto producer = std::make_shared<Producer>(type);
    for (const int64_t id : {0, 3, 1, 2}) {
      producer->steps.push_back({copy(sample, sim(id))});
      Array empty = slice(*producer->steps.back().array, *sample.schema, 5, 0);
      producer->steps.push_back({std::move(empty)});
    }
    DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(2));
    for (int i = 0; i < 4; ++i) {
      const Array batch = next(stream);
      CHECK(batch->device_id == 2);
      CHECK(difference(sample, *batch) == "");
      CHECK(next(stream)->array.length == 0);
    }
    CHECK(next(stream).released());
  }
}

TEST_CASE("an empty stream has its schema and its end") {
  begin();
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    auto producer = std::make_shared<Producer>(mixed_batch());
    DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(flags));
    Owned<ArrowSchema> schema;
    REQUIRE(stream->get_schema(stream.get(), schema.out()) == 0);
    CHECK(std::string(schema->format) == "+s");
    CHECK(next(stream).released());
    CHECK(next(stream).released());
  }
}

TEST_CASE("a producer's error follows its batches with code and text, and repeats") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    for (const int32_t depth : {1, 2, 6}) {
      auto producer = batches_of(sample, kRows);
      producer->steps[3].code = ENODATA;
      producer->steps[3].text = "the tape has ended";
      DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(flags, depth));
      for (int64_t i = 0; i < 3; ++i) CHECK(difference(sample, *next(stream), i * kRows) == "");
      for (int i = 0; i < 3; ++i) CHECK(next_fails(ENODATA, stream) == "the tape has ended");
      CHECK(producer->calls == 4);
      stream.reset();
      until([&] { return producer->releases == 1; });
    }
  }
}

TEST_CASE("a failure of get_schema is an error of both calls") {
  begin();
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    auto producer = std::make_shared<Producer>(field("i"));
    producer->schema_code = EACCES;
    DeviceStream stream = to_device(stream_of(producer), sim(0), stream_options(flags));
    Owned<ArrowSchema> schema;
    CHECK(stream->get_schema(stream.get(), schema.out()) == EACCES);
    CHECK(std::string(stream->get_last_error(stream.get())) == "no schema today");
    CHECK(schema.released());
    CHECK(next_fails(EACCES, stream) == "no schema today");
    CHECK(producer->calls == 0);
  }
}

TEST_CASE("a producer that succeeds without a schema is refused in every kind of reading") {
  begin();
  const Sample sample(field("i"), {.rows = 7});
  const auto without_schema = [&] {
    DeviceStream stream = stream_of(batches_of(sample, kRows));
    stream->get_schema = [](ArrowDeviceArrayStream*, ArrowSchema* out) {
      *out = ArrowSchema{};
      return 0;
    };
    return stream;
  };
  Owned<ArrowSchema> schema;
  must_fail_saying(EINVAL, "gave no schema", arrowdevice_stream_get_schema, without_schema().get(), schema.out());
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    DeviceStream stream = to_device(without_schema(), sim(0), stream_options(flags));
    CHECK(contains(next_fails(EINVAL, stream), "gave no schema"));
  }
  ArrowAsyncDeviceStreamHandler* handler = nullptr;
  DeviceStream collected, source = without_schema();
  must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, nullptr, &handler, collected.out());
  must(arrowdevice_async_produce, source.get(), handler, nullptr);
  CHECK(contains(next_fails(EINVAL, collected), "gave no schema"));
}

TEST_CASE("a malformed schema is an error of both calls and is released") {
  begin();
  const int64_t before = live_schema_fields();
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    DeviceStream upstream = stream_of(std::make_shared<Producer>(field("i")));
    upstream->get_schema = [](ArrowDeviceArrayStream*, ArrowSchema* out) {
      *out = make_schema(field("+l", "tags")).take();
      return 0;
    };
    DeviceStream stream = to_device(std::move(upstream), sim(0), stream_options(flags));
    Owned<ArrowSchema> schema;
    CHECK(stream->get_schema(stream.get(), schema.out()) == EINVAL);
    CHECK(contains(stream->get_last_error(stream.get()), "tags"));
    CHECK(schema.released());
    CHECK(contains(next_fails(EINVAL, stream), "tags"));
  }
  expect_fields_gone(before);
}

TEST_CASE("a failed copy ends the stream at its batch and leaks nothing") {
  const Sample sample(mixed_batch(), {.rows = 60});
  for (const Peers peers : {Peers::kCopy, Peers::kNone}) {
    begin(configuration(peers));
    for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
      const Ledger ledger;
      auto producer = batches_of(sample, kRows, sim(1));
      DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(0), stream_options(flags, 1));
      CHECK(difference(sample, *next(stream)) == "");
      control::fail_next("queue_copy");
      std::string text;
      int64_t good = 1;
      for (;; ++good) {
        Array batch;
        const int code = stream->get_next(stream.get(), batch.out());
        if (code == 0) {
          REQUIRE_FALSE(batch.released());
          continue;
        }
        CHECK(code == EIO);
        text = stream->get_last_error(stream.get());
        break;
      }
      CHECK(good <= 3);
      CHECK(contains(text, "copy: "));
      CHECK(contains(next_fails(EIO, stream), "copy: "));
      stream.reset();
      control::fail_no_more();
      until([&] { return producer->releases == 1; });
    }
  }
}

TEST_CASE("a batch of another device type than its stream's is refused by its number") {
  begin();
  const Sample sample(field("i"), {.rows = 21});
  auto producer = batches_of(sample, kRows);
  producer->steps[1].array = copy(sample, sim(0));
  DeviceStream stream = to_device(stream_of(producer), sim(1));
  next(stream);
  CHECK(next_fails(EINVAL, stream) ==
        "array 1 of the stream: the array is on ext_dev:0, whose memory a stream on cpu cannot have");
}

TEST_CASE("a batch without buffers may name any device") {
  begin();
  const Sample sample(field("n"), {.rows = 21});
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(1));
  for (int i = 0; i < 3; ++i) CHECK(next(stream)->array.length == kRows);
  CHECK(next(stream).released());
}

TEST_CASE("stream_to_device checks its options, and the caller keeps a refused stream") {
  begin();
  const Sample sample(field("i"), {.rows = 21});
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = stream_of(producer);
  const auto refuse = [&](arrowdevice_stream_options options, arrowdevice_device* to) {
    DeviceStream out;
    HostStream host;
    const auto message = must_fail(EINVAL, arrowdevice_stream_to_device, stream.get(), to, &options, out.out());
    if (to != nullptr) must_fail(EINVAL, arrowdevice_stream_to_host, stream.get(), &options, host.out());
    CHECK(out.released());
    CHECK_FALSE(stream.released());
    return message;
  };
  CHECK(contains(refuse(stream_options(8), sim(0)), "flags"));
  CHECK(contains(refuse(stream_options(0, -1), sim(0)), "depth"));
  auto options = stream_options();
  options.struct_size = 8;
  CHECK(contains(refuse(options, sim(0)), "struct_size"));
  options = stream_options();
  options.copy_flags = ARROWDEVICE_COPY_ALWAYS | ARROWDEVICE_COPY_NEVER;
  refuse(options, sim(0));
  options.copy_flags = 1u << 20;
  CHECK(contains(refuse(options, sim(0)), "copy_flags"));
  refuse(stream_options(), nullptr);
  must_fail(EINVAL, arrowdevice_stream_to_device, stream.get(), sim(0), nullptr, nullptr);
  must_fail(EINVAL, arrowdevice_stream_to_device, stream.get(), sim(0), nullptr, stream.get());
  CHECK(producer->releases == 0);
  DeviceStream released, out;
  must_fail(EINVAL, arrowdevice_stream_to_device, released.get(), sim(0), nullptr, out.out());
}

TEST_CASE("a stream refuses an unusable queue or pool at once and stays with the caller") {
  begin();
  const Sample sample(field("i"), {.rows = 21});
  const Queue on_cpu = make_queue(cpu());
  const Queue on_sim = make_queue(sim(0));
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = stream_of(producer);
  DeviceStream out;
  HostStream host;

  auto options = stream_options();
  options.queue = on_cpu.get();
  std::string why = must_fail(EINVAL, arrowdevice_stream_to_device, stream.get(), sim(0), &options, out.out());
  CHECK(contains(why, "cpu:0"));
  CHECK(contains(why, "ext_dev:0"));
  options.queue = on_sim.get();  // on neither the source's nor the target's device
  why = must_fail(EINVAL, arrowdevice_stream_to_host, stream.get(), &options, host.out());
  CHECK(contains(why, "a queue of ext_dev:0 cannot copy from cpu to cpu:0"));
  options.source_device = cpu();
  why = must_fail(EINVAL, arrowdevice_stream_to_host, stream.get(), &options, host.out());
  CHECK(contains(why, "a queue of ext_dev:0 cannot copy from cpu:0 to cpu:0"));
  {
    // The CPU cannot read memory of OpenCL, so a copy from OpenCL needs a queue of OpenCL.
    Owned<ArrowSchema> schema = make_schema(sample.type);
    DeviceStream elsewhere;
    must(arrowdevice_stream_from_arrays, schema.get(), static_cast<ArrowDeviceArray*>(nullptr), int64_t{0},
         ArrowDeviceType{ARROW_DEVICE_OPENCL}, elsewhere.out());
    options = stream_options();
    options.queue = on_cpu.get();
    why = must_fail(EINVAL, arrowdevice_stream_to_host, elsewhere.get(), &options, host.out());
    CHECK(contains(why, "a queue of cpu:0 cannot copy from opencl to cpu:0"));
  }
  options = stream_options();
  options.pool = default_pool(sim(1));
  why = must_fail(EINVAL, arrowdevice_stream_to_device, stream.get(), sim(0), &options, out.out());
  CHECK(contains(why, "the pool is of ext_dev:1, not of ext_dev:0"));
  must_fail(EINVAL, arrowdevice_stream_to_host, stream.get(), &options, host.out());

  CHECK(out.released());
  CHECK(host.released());
  CHECK(producer->releases == 0);
  CHECK(producer->calls == 0);
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  // A copy from a device to the CPU uses a queue of the source device.
  options = stream_options();
  options.queue = on_sim.get();
  host = to_host(stream_of(batches_of(sample, kRows, sim(0)), ARROW_DEVICE_EXT_DEV), options);
  CHECK(difference_of_rest(sample, kRows, host) == "");
}

TEST_CASE("a whole error passes through nested streams of the library") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    DeviceStream stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), stream_options(flags));
    // A stream of the library reads another stream of the library.
    HostStream home = to_host(std::move(stream), stream_options(flags));
    must(arrowdevice_stream_from_host, home.get(), stream.out());
    control::fail_next("queue_copy");
    arrowdevice_error error{};
    int code = 0;
    while (code == 0) {
      Array batch;
      code = arrowdevice_stream_get_next(stream.get(), batch.out(), &error);
      REQUIRE((code != 0 || !batch.released()));
    }
    for (int again = 0; again < 2; ++again) {
      CHECK(error.code == EIO);
      CHECK(std::string(error.backend) == "sim");
      CHECK(error.native_code == -EIO);
      CHECK(std::string(error.message) == "queue_copy: a failure that was asked for");
      error = {};
      CHECK(arrowdevice_stream_get_next(stream.get(), Array().out(), &error) == EIO);
    }
  }
  // The error of a foreign producer has only a text.
  auto producer = std::make_shared<Producer>(field("i"));
  producer->schema_code = EACCES;
  DeviceStream stream = to_device(stream_of(producer), sim(0));
  arrowdevice_error error = untouched_error();
  CHECK(arrowdevice_stream_get_schema(stream.get(), Owned<ArrowSchema>().out(), &error) == EACCES);
  CHECK(std::string(error.backend).empty());
  CHECK(error.native_code == 0);
  CHECK(std::string(error.message) == "no schema today");
}

TEST_CASE("a stream copies with its queue, pool and flags") {
  begin();
  const Sample sample(field("l"), {.rows = 21});
  Queue queue = make_queue(sim(0));
  Pool pool = make_pool(sim(0));
  auto options = stream_options();
  options.queue = queue.get();
  options.pool = pool.get();
  options.copy_flags = ARROWDEVICE_COPY_ALWAYS;
  auto producer = batches_of(sample, kRows, sim(0));
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(0), options);
  queue.reset();  // the stream keeps its own reference
  const int64_t used = stats(pool.get()).used_bytes;
  const Array first = next(stream);
  CHECK(stats(pool.get()).used_bytes > used);
  CHECK(difference(sample, *first) == "");
  CHECK(difference_of_rest(sample, kRows, stream, kRows) == "");

  options = stream_options();
  options.copy_flags = ARROWDEVICE_COPY_NEVER;
  stream = to_device(stream_of(batches_of(sample, kRows)), sim(0), options);
  CHECK(contains(next_fails(ENOTSUP, stream), "copying is ruled out"));
}

TEST_CASE("a stream from the CPU to the CPU shares") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 21});
  auto producer = batches_of(sample, kRows);
  const void* const buffer = producer->steps[0].array->array.children[0]->buffers[1];
  HostStream host = to_host(stream_of(producer));
  const Array first = next(host);
  CHECK(first->array.children[0]->buffers[1] == buffer);
  CHECK(difference_of_rest(sample, kRows, host, kRows) == "");
}

}  // namespace
