// SPDX-License-Identifier: Apache-2.0
// Tests the functions for languages that cannot call C function pointers.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

TEST_CASE("a schema's copy is deep and lives on without the original") {
  const Field type =
      struct_of({field("l", "id").with_metadata("unit", "s"), dictionary_of("i", field("u", "value")).named("kind"),
                 map_of(field("u", "key"), field("i", "value")).named("map").with_flags(ARROW_FLAG_MAP_KEYS_SORTED)});
  auto schema = make_schema(type);
  auto made = output_of(arrowdevice_schema_copy, schema.get());
  CHECK(made->children[0] != schema->children[0]);
  const std::string metadata = encode_metadata({{"unit", "s"}});
  arrowdevice_schema_release(schema.get());
  CHECK(schema.released());
  REQUIRE(made->n_children == 3);
  CHECK(std::string(made->format) == "+s");
  CHECK(std::string(made->children[0]->name) == "id");
  CHECK(std::string(made->children[0]->metadata, metadata.size()) == metadata);
  CHECK(std::string(made->children[1]->dictionary->format) == "u");
  CHECK((made->children[2]->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0);

  Owned<ArrowSchema> child(*made->children[2]);
  made->children[2]->release = nullptr;
  arrowdevice_schema_release(made.get());
  CHECK(std::string(child->children[0]->children[1]->name) == "value");
}

TEST_CASE("a copy of a released, missing or malformed schema is refused") {
  Owned<ArrowSchema> released, out;
  must_fail(EINVAL, arrowdevice_schema_copy, released.get(), out.out());
  must_fail(EINVAL, arrowdevice_schema_copy, nullptr, out.out());
  auto schema = make_schema(struct_of({field("i")}));
  must_fail(EINVAL, arrowdevice_schema_copy, schema.get(), nullptr);
  must_fail(EINVAL, arrowdevice_schema_copy, schema.get(), schema.get());
  CHECK_FALSE(schema.released());
  arrowdevice_schema_release(schema->children[0]);
  must_fail(EINVAL, arrowdevice_schema_copy, schema.get(), out.out());
  CHECK(out.released());
}

TEST_CASE("release functions ignore released structs and NULL") {
  const int64_t before = live_schema_fields();
  Ledger ledger;
  auto schema = make_schema(struct_of({field("i")}));
  auto array = make_array(generate(field("u"), {}), ledger);
  for (int i = 0; i < 2; ++i) {
    arrowdevice_schema_release(schema.get());
    arrowdevice_host_array_release(array.get());
  }
  CHECK(schema.released());
  expect_fields_gone(before);
  CHECK(ledger.live() == 0);
  CHECK(Ledger::mistakes() == 0);
  arrowdevice_schema_release(nullptr);
  arrowdevice_host_array_release(nullptr);
  arrowdevice_stream_release(nullptr);
}

// A stream of some batches of int64, and then the end or a failure.
class Stream {
 public:
  explicit Stream(int batches, int code = 0, const char* text = nullptr) : left_(batches), code_(code), text_(text) {
    stream_ = {.device_type = ARROW_DEVICE_CPU,
               .get_schema = [](ArrowDeviceArrayStream* s, ArrowSchema* out) { return of(s).get_schema(out); },
               .get_next = [](ArrowDeviceArrayStream* s, ArrowDeviceArray* out) { return of(s).get_next(out); },
               .get_last_error = [](ArrowDeviceArrayStream* s) { return of(s).text_; },
               .release =
                   [](ArrowDeviceArrayStream* s) {
                     ++of(s).releases;
                     s->release = nullptr;
                   },
               .private_data = this};
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  ArrowDeviceArrayStream* get() { return &stream_; }
  int releases = 0;
  Ledger ledger;

 private:
  static Stream& of(ArrowDeviceArrayStream* stream) { return *static_cast<Stream*>(stream->private_data); }

  int get_schema(ArrowSchema* out) {
    if (code_ != 0) return code_;
    *out = make_schema(field("l")).take();
    return 0;
  }
  int get_next(ArrowDeviceArray* out) {
    if (left_ == 0 && code_ != 0) {
      std::memset(out, 0x5C, sizeof *out);  // a producer that fails may leave anything here
      return code_;
    }
    *out = ArrowDeviceArray{};
    out->device_type = ARROW_DEVICE_CPU;
    out->device_id = -1;
    if (left_-- > 0) out->array = make_array(generate(field("l"), {}), ledger).take();
    return 0;
  }

  int left_;
  int code_;
  const char* text_;
  ArrowDeviceArrayStream stream_;
};

TEST_CASE("a stream's schema and arrays come out of it, until a released one marks the end") {
  Stream stream(2);
  auto schema = output_of(arrowdevice_stream_get_schema, stream.get());
  CHECK(std::string(schema->format) == "l");
  Array array;
  for (int i = 0; i < 2; ++i) {
    must(arrowdevice_stream_get_next, stream.get(), array.out());
    CHECK_FALSE(array.released());
    CHECK(array->array.length == Knobs{}.rows);
  }
  must(arrowdevice_stream_get_next, stream.get(), array.out());
  CHECK(array.released());
  CHECK(stream.ledger.live() == 0);
  arrowdevice_stream_release(stream.get());
  arrowdevice_stream_release(stream.get());
  CHECK(stream.releases == 1);
  must_fail_saying(EINVAL, "released", arrowdevice_stream_get_next, stream.get(), array.out());
  must_fail_saying(EINVAL, "released", arrowdevice_stream_get_schema, stream.get(), schema.out());
}

TEST_CASE("a producer's error is returned with its text and code") {
  Owned<ArrowSchema> schema;
  Array array;
  Stream talks(0, ECANCELED, "the table was dropped");
  CHECK(must_fail(ECANCELED, arrowdevice_stream_get_schema, talks.get(), schema.out()) == "the table was dropped");
  CHECK(must_fail(ECANCELED, arrowdevice_stream_get_next, talks.get(), array.out()) == "the table was dropped");
  CHECK(array.released());
  CHECK(schema.released());
  Stream silent(0, EPIPE);
  must_fail_saying(EPIPE, "get_schema", arrowdevice_stream_get_schema, silent.get(), schema.out());
  must_fail_saying(EPIPE, "get_next", arrowdevice_stream_get_next, silent.get(), array.out());
}

TEST_CASE("stream functions refuse missing arguments") {
  Stream stream(1);
  Owned<ArrowSchema> schema;
  Array array;
  must_fail(EINVAL, arrowdevice_stream_get_schema, nullptr, schema.out());
  must_fail(EINVAL, arrowdevice_stream_get_schema, stream.get(), nullptr);
  must_fail(EINVAL, arrowdevice_stream_get_next, nullptr, array.out());
  must_fail(EINVAL, arrowdevice_stream_get_next, stream.get(), nullptr);
}

}  // namespace
