// SPDX-License-Identifier: Apache-2.0
// Tests streams of existing arrays, and streams made of C streams.
#include "stream_producer.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

// Returns the batches of the sample as arrays.
std::vector<ArrowDeviceArray> arrays_of(const Sample& sample, arrowdevice_device* device = nullptr) {
  std::vector<ArrowDeviceArray> arrays;
  const auto producer = batches_of(sample, kRows, device);
  for (auto& step : producer->steps) arrays.push_back(step.array.take());
  return arrays;
}

void release(std::vector<ArrowDeviceArray>& arrays) {
  for (auto& array : arrays) arrowdevice_array_release(&array);
}

TEST_CASE("a stream of arrays returns them in order, then ends for good") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 30});
  for (auto* device : {cpu(), sim(0), sim(2)}) {
    auto arrays = arrays_of(sample, device);
    auto schema = make_schema(sample.type);
    const ArrowDeviceType type = arrays.front().device_type;
    DeviceStream stream;
    must(arrowdevice_stream_from_arrays, schema.get(), arrays.data(), static_cast<int64_t>(arrays.size()), type,
         stream.out());
    CHECK(schema.released());
    for (const auto& array : arrays) CHECK(array.array.release == nullptr);
    CHECK(stream->device_type == type);
    Owned<ArrowSchema> first, second;
    REQUIRE(stream->get_schema(stream.get(), first.out()) == 0);
    REQUIRE(stream->get_schema(stream.get(), second.out()) == 0);
    CHECK(first->n_children == sample.schema->n_children);
    CHECK(difference_of_rest(sample, kRows, stream) == "");
    stream.reset();
    CHECK(std::string(first->format) == "+s");
  }
}

TEST_CASE("a stream of arrays may be empty, and may be released early") {
  begin();
  const Sample sample(field("u"), {.rows = 30});
  auto schema = make_schema(sample.type);
  DeviceStream empty;
  must(arrowdevice_stream_from_arrays, schema.get(), nullptr, 0, ARROW_DEVICE_EXT_DEV, empty.out());
  Owned<ArrowSchema> told;
  CHECK(empty->get_schema(empty.get(), told.out()) == 0);
  CHECK(std::string(told->format) == "u");
  CHECK(next(empty).released());

  const int64_t before = sample.ledger.live();
  schema = make_schema(sample.type);
  Ledger ledger;
  ArrowDeviceArray two[2];
  for (auto& array : two) array = from_host(make_array(generate(sample.type, {}), ledger)).take();
  DeviceStream stream;
  must(arrowdevice_stream_from_arrays, schema.get(), two, 2, ARROW_DEVICE_CPU, stream.out());
  next(stream);
  CHECK(ledger.live() == 1);
  arrowdevice_stream_release(stream.get());
  CHECK(ledger.live() == 0);
  CHECK(sample.ledger.live() == before);
}

TEST_CASE("arrays of another type are refused by number and stay with the caller") {
  begin();
  const Sample sample(struct_of({field("i"), field("u")}), {.rows = 30});
  auto arrays = arrays_of(sample);
  const auto n = static_cast<int64_t>(arrays.size());
  const auto refuse = [&](ArrowSchema* schema, ArrowDeviceArray* list, int64_t count, ArrowDeviceType type) {
    DeviceStream stream;
    const auto message = must_fail(EINVAL, arrowdevice_stream_from_arrays, schema, list, count, type, stream.out());
    CHECK(stream.released());
    for (const auto& array : arrays) CHECK(array.array.release != nullptr);
    return message;
  };
  auto schema = make_schema(sample.type);
  auto other = make_schema(struct_of({field("i"), field("u"), field("i")}));
  Owned<ArrowSchema> released;
  CHECK(contains(refuse(schema.get(), arrays.data(), n, ARROW_DEVICE_EXT_DEV), "array 0"));
  CHECK(contains(refuse(other.get(), arrays.data(), n, ARROW_DEVICE_CPU), "array 0"));
  CHECK(contains(refuse(schema.get(), arrays.data(), -1, ARROW_DEVICE_CPU), "-1"));
  refuse(schema.get(), nullptr, 1, ARROW_DEVICE_CPU);
  refuse(nullptr, arrays.data(), n, ARROW_DEVICE_CPU);
  refuse(released.get(), arrays.data(), n, ARROW_DEVICE_CPU);
  refuse(schema.get(), arrays.data(), n, 0);
  CHECK_FALSE(schema.released());
  must_fail(EINVAL, arrowdevice_stream_from_arrays, schema.get(), arrays.data(), n, ARROW_DEVICE_CPU, nullptr);
  arrays[2].array.length = 1'000'000;
  CHECK(contains(refuse(schema.get(), arrays.data(), n, ARROW_DEVICE_CPU), "array 2"));
  release(arrays);
}

TEST_CASE("a stream returns canonical arrays and refuses an event without a device") {
  begin();
  const Sample sample(field("u"), {.rows = kRows});
  auto arrays = arrays_of(sample);
  soil(arrays[0]);
  arrays[0].sync_event = &arrays;
  auto schema = make_schema(sample.type);
  DeviceStream stream;
  const auto said = must_fail(EINVAL, arrowdevice_stream_from_arrays, schema.get(), arrays.data(), 1,
                              ArrowDeviceType{ARROW_DEVICE_CPU}, stream.out());
  CHECK(contains(said, "array 0 of the stream: sync_event"));
  arrays[0].sync_event = nullptr;
  must(arrowdevice_stream_from_arrays, schema.get(), arrays.data(), 1, ArrowDeviceType{ARROW_DEVICE_CPU}, stream.out());
  CHECK(is_canonical_on_cpu(*next(stream)));
}

TEST_CASE("the text of a stream's error is UTF-8") {
  begin();
  auto producer = std::make_shared<Producer>(field("i"));
  producer->steps.push_back({.array = {}, .code = EIO, .text = "bad \xff\xc3 and \xc3\xa4"});
  DeviceStream stream = to_device(stream_of(producer), sim(0));
  CHECK(next_fails(EIO, stream) == "bad ?? and \xc3\xa4");

  // Tests a name of the schema in a message of the library.
  Sample other(field("l"), {.rows = kRows});
  producer = batches_of(other, kRows);
  producer->schema = make_schema(field("u", "pr\xff\xfeis"));
  stream = to_device(stream_of(producer), sim(0));
  const std::string text = next_fails(EINVAL, stream);
  CHECK(contains(text, "pr??is"));
}

TEST_CASE("a C stream becomes a device stream on the CPU, with its errors and its end") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 30});
  auto producer = batches_of(sample, kRows);
  HostStream host = host_stream_of(producer);
  DeviceStream stream;
  must(arrowdevice_stream_from_host, host.get(), stream.out());
  CHECK(host.released());
  CHECK(stream->device_type == ARROW_DEVICE_CPU);
  CHECK(producer->calls == 0);
  CHECK(difference_of_rest(sample, kRows, stream) == "");
  // The library does not call the producer again after the end.
  CHECK(producer->calls == static_cast<int64_t>(producer->steps.size()) + 1);
  stream.reset();
  CHECK(producer->releases == 1);

  producer = batches_of(sample, kRows);
  producer->steps[2].code = EREMOTEIO;
  producer->steps[2].text = "the disk is gone";
  host = host_stream_of(producer);
  must(arrowdevice_stream_from_host, host.get(), stream.out());
  next(stream);
  next(stream);
  for (int i = 0; i < 2; ++i) {
    CHECK(next_fails(EREMOTEIO, stream) == "the disk is gone");
    CHECK(producer->calls == 3);
  }
  Owned<ArrowSchema> schema;
  CHECK(stream->get_schema(stream.get(), schema.out()) == 0);
  CHECK(next_fails(EREMOTEIO, stream) == "the disk is gone");
  stream.reset();
  CHECK(producer->releases == 1);

  HostStream released;
  must_fail(EINVAL, arrowdevice_stream_from_host, released.get(), stream.out());
  must_fail(EINVAL, arrowdevice_stream_from_host, nullptr, stream.out());
  host = host_stream_of(batches_of(sample, kRows));
  must_fail(EINVAL, arrowdevice_stream_from_host, host.get(), nullptr);
  CHECK_FALSE(host.released());
}

TEST_CASE("a producer's failure without a text is reported with its code") {
  begin();
  auto producer = std::make_shared<Producer>(field("i"));
  producer->steps.push_back({Array(), ENODATA});
  HostStream host = host_stream_of(producer);
  DeviceStream stream;
  must(arrowdevice_stream_from_host, host.get(), stream.out());
  CHECK(contains(next_fails(ENODATA, stream), std::to_string(ENODATA)));
}

}  // namespace
