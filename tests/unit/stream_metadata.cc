// SPDX-License-Identifier: Apache-2.0
// Tests the metadata of async streams, of their items and of their errors.
#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

std::string metadata(const std::string& value) { return encode_metadata({{"key", value}}); }

// Returns the encoded metadata, or an empty text if there is none.
std::string get(DeviceStream& stream, int32_t kind) {
  const char* out = nullptr;
  must(arrowdevice_stream_get_metadata, stream.get(), kind, &out);
  return metadata_bytes(out);
}

std::string item(DeviceStream& stream) { return get(stream, ARROWDEVICE_METADATA_ITEM); }

Collected collect_with_metadata() { return collect(ARROW_DEVICE_CPU, 0, ARROWDEVICE_ASYNC_LAYOUT_40_BYTES); }

Array rows(const Sample& sample, const Ledger& ledger) {
  return from_host(make_array(generate(sample.type, sample.knobs), ledger));
}

// A collected stream "S" of the arrays "A" and "none". It ends with the metadata "E", or with an error of "X".
struct Told {
  Told(const Sample& sample, const Ledger& ledger, bool with_error) {
    const std::string stream = metadata("S"), array = metadata("A"), end = metadata(with_error ? "X" : "E");
    hand.producer().additional_metadata = stream.data();
    CHECK(hand.schema(sample.type) == 0);
    hand.task(rows(sample, ledger), array.data());
    hand.task(rows(sample, ledger));
    if (with_error) {
      hand.error(EXDEV, "it broke", end.data());
    } else {
      hand.end(end.data());
    }
    hand.release();
    hand.producer().additional_metadata = nullptr;  // the library has copied everything
  }

  Collected collected = collect_with_metadata();
  Hand hand{collected.handler};
};

// Reads that stream. `upstream` is the collected stream or one that moves its batches.
void check_told(DeviceStream& stream, bool with_error) {
  CHECK(get(stream, ARROWDEVICE_METADATA_STREAM) == metadata("S"));
  CHECK(item(stream) == "");
  Array array;
  must(arrowdevice_stream_get_next, stream.get(), array.out());
  CHECK(item(stream) == metadata("A"));
  must(arrowdevice_stream_get_next, stream.get(), array.out());
  CHECK(item(stream) == "");
  for (int repeated = 0; repeated < 2; ++repeated) {
    if (with_error) {
      CHECK(must_fail(EXDEV, arrowdevice_stream_get_next, stream.get(), array.out()) == "it broke");
      CHECK(item(stream) == metadata("X"));
    } else {
      must(arrowdevice_stream_get_next, stream.get(), array.out());
      CHECK(array.released());
      CHECK(item(stream) == metadata("E"));
    }
  }
  CHECK(get(stream, ARROWDEVICE_METADATA_STREAM) == metadata("S"));
}

TEST_CASE("a collected stream returns metadata of the stream, its arrays and its end") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  for (const bool with_error : {false, true}) {
    Told told(sample, ledger, with_error);
    check_told(told.collected.stream, with_error);
  }
}

TEST_CASE("metadata passes through stream_to_device, with and without threads") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  for (const bool with_error : {false, true}) {
    for (const uint32_t flags : {0U, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
      for (auto* const device : {cpu(), sim(0), sim(3)}) {
        Told told(sample, ledger, with_error);
        auto options = sized<arrowdevice_stream_options>();
        options.flags = flags;
        DeviceStream moved;
        must(arrowdevice_stream_to_device, told.collected.stream.get(), device, &options, moved.out());
        check_told(moved, with_error);
      }
    }
  }
}

TEST_CASE("a handler gets the metadata of a collected stream") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  for (const bool with_error : {false, true}) {
    Told told(sample, ledger, with_error);
    auto consumer = std::make_shared<Consumer>();
    must(arrowdevice_async_produce, told.collected.stream.get(), handler_of(consumer), nullptr);
    consumer->wait_for_release();
    CHECK(consumer->additional_metadata == metadata("S"));
    REQUIRE(consumer->metadata.size() == 2);
    CHECK(consumer->metadata[0] == metadata("A"));
    CHECK(consumer->metadata[1] == "");
    CHECK(consumer->last_metadata == metadata(with_error ? "X" : "E"));
  }
}

// Metadata of a program: the nth call of an item gives the nth value.
struct Given {
  Given(std::string of_stream, std::vector<std::string> of_items)
      : stream(std::move(of_stream)), items(std::move(of_items)) {}

  std::string stream, current;
  std::vector<std::string> items;
  size_t next = 0;
  std::string kinds;  // "SIII", in the order of the calls

  static const char* get(void* user, int32_t kind) {
    enter_callback("get_metadata");
    auto& given = *static_cast<Given*>(user);
    given.kinds += kind == ARROWDEVICE_METADATA_STREAM ? 'S' : 'I';
    given.current = kind == ARROWDEVICE_METADATA_STREAM ? given.stream : given.items.at(given.next++);
    return given.current.empty() ? nullptr : given.current.data();
  }

  arrowdevice_async_options options() {
    auto made = async_options();
    made.get_metadata = get;
    made.user = this;
    return made;
  }
};

TEST_CASE("a program gives metadata of a stream that it produces") {
  begin();
  const Sample sample(mixed_batch(), {.rows = 2 * kRows});
  for (const bool with_error : {false, true}) {
    auto producer = batches_of(sample, kRows);
    if (with_error) producer->steps.push_back({.array = {}, .code = EXDEV, .text = "it broke"});
    Given given(metadata("S"), {"", metadata("A"), metadata("E")});
    const auto options = given.options();
    auto consumer = std::make_shared<Consumer>();
    DeviceStream stream = stream_of(producer);
    must(arrowdevice_async_produce, stream.get(), handler_of(consumer), &options);
    consumer->wait_for_release();
    CHECK(given.kinds == "SIII");
    CHECK(consumer->calls() == (with_error ? "STTXR" : "STTER"));
    CHECK(consumer->additional_metadata == metadata("S"));
    REQUIRE(consumer->metadata.size() == 2);
    CHECK(consumer->metadata[0] == "");
    CHECK(consumer->metadata[1] == metadata("A"));
    CHECK(consumer->last_metadata == metadata("E"));
  }
}

TEST_CASE("a program gives metadata of the error of get_schema") {
  begin();
  auto producer = batches_of(Sample(field("u"), {.rows = 5}), 5);
  producer->schema_code = EXDEV;
  Given given("", {metadata("X")});
  const auto options = given.options();
  auto consumer = std::make_shared<Consumer>();
  DeviceStream stream = stream_of(producer);
  must(arrowdevice_async_produce, stream.get(), handler_of(consumer), &options);
  consumer->wait_for_release();
  CHECK(given.kinds == "I");
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->last_metadata == metadata("X"));
}

TEST_CASE("malformed metadata ends a stream with EINVAL") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  const std::string malformed("\xff\xff\xff\xff", 4);  // -1 pairs
  SECTION("of a program") {
    for (const bool of_stream : {true, false}) {
      Given given(of_stream ? malformed : "", {malformed, ""});
      const auto options = given.options();
      auto consumer = std::make_shared<Consumer>();
      DeviceStream stream = stream_of(batches_of(sample, sample.knobs.rows));
      must(arrowdevice_async_produce, stream.get(), handler_of(consumer), &options);
      consumer->wait_for_release();
      CHECK(consumer->calls() == (of_stream ? "XR" : "SXR"));
      CHECK(consumer->code == EINVAL);
    }
  }
  SECTION("of a foreign producer") {
    for (const bool of_task : {true, false}) {
      auto collected = collect_with_metadata();
      Hand hand(collected.handler);
      CHECK(hand.schema(sample.type) == 0);
      if (of_task) {
        hand.task(rows(sample, ledger), malformed.data());
        CHECK(hand.unextracted() == 0);
        CHECK(hand.cancels() == 1);
      } else {
        CHECK(hand.end(malformed.data()) == EINVAL);
      }
      hand.release();
      Array array;
      must_fail(EINVAL, arrowdevice_stream_get_next, collected.stream.get(), array.out());
    }
  }
}

TEST_CASE("a failure of the library has no metadata of an array") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  const Ledger ledger;
  auto collected = collect(ARROW_DEVICE_EXT_DEV);
  Hand hand(collected.handler, ARROW_DEVICE_EXT_DEV);
  const std::string array = metadata("A");
  CHECK(hand.schema(sample.type) == 0);
  hand.task(rows(sample, ledger), array.data());  // it is on the CPU
  hand.end();
  hand.release();
  DeviceStream moved;
  must(arrowdevice_stream_to_device, collected.stream.get(), cpu(), nullptr, moved.out());
  Array out;
  must_fail(EINVAL, arrowdevice_stream_get_next, moved.get(), out.out());
  CHECK(item(moved) == "");
}

TEST_CASE("get_metadata of a stream refuses invalid arguments and ends with a cancel") {
  begin();
  const Sample sample(field("u"), {.rows = 5});
  auto collected = collect_with_metadata();
  const char* out = "";
  CHECK(must_fail(EINVAL, arrowdevice_stream_get_metadata, collected.stream.get(), 2, &out) ==
        "invalid kind 2 of metadata (expected 0 or 1)");
  CHECK(out == nullptr);
  must_fail(EINVAL, arrowdevice_stream_get_metadata, collected.stream.get(), ARROWDEVICE_METADATA_ITEM, nullptr);
  must_fail(EINVAL, arrowdevice_stream_get_metadata, nullptr, ARROWDEVICE_METADATA_ITEM, &out);
  DeviceStream foreign = stream_of(batches_of(sample, 5));
  CHECK(must_fail(EINVAL, arrowdevice_stream_get_metadata, foreign.get(), ARROWDEVICE_METADATA_ITEM, &out) ==
        "the stream belongs to another library");
  must(arrowdevice_stream_cancel, collected.stream.get());
  must_fail(ECANCELED, arrowdevice_stream_get_metadata, collected.stream.get(), ARROWDEVICE_METADATA_STREAM, &out);
  collected.handler->release(collected.handler);
}

}  // namespace
