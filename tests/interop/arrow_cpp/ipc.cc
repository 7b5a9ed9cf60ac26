// SPDX-License-Identifier: Apache-2.0
// Streams of Arrow's IPC format that the library writes and Arrow C++ reads, and the other way round.
#include <arrow/extension/uuid.h>
#include <arrow/extension_type.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/key_value_metadata.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "peer.h"
#include "unit/ipc_batches.h"

namespace {

using namespace arrow_cpp_test;  // NOLINT: what every line of these tests is written with
using namespace ipc_test;        // NOLINT: the same

struct ArrowStream {
  SchemaPtr schema;
  std::vector<BatchPtr> batches;
};

ArrowStream read_by_arrow(std::span<const uint8_t> stream) {
  const auto bytes = std::make_shared<arrow::Buffer>(stream.data(), static_cast<int64_t>(stream.size()));
  const auto reader = ok(arrow::ipc::RecordBatchStreamReader::Open(std::make_shared<arrow::io::BufferReader>(bytes)));
  return {reader->schema(), ok(reader->ToRecordBatches())};
}

Bytes write_by_arrow(const SchemaPtr& schema, const std::vector<BatchPtr>& batches) {
  const auto out = ok(arrow::io::BufferOutputStream::Create());
  const auto writer = ok(arrow::ipc::MakeStreamWriter(out, schema));
  for (const auto& batch : batches) ok(writer->WriteRecordBatch(*batch));
  ok(writer->Close());
  const auto bytes = ok(out->Finish());
  return {bytes->data(), bytes->data() + bytes->size()};
}

// Exports a batch. Arrow C++ and the library's tests then compare the same structs.
struct Exported {
  explicit Exported(const arrow::RecordBatch& batch) { ok(arrow::ExportRecordBatch(batch, array.out(), schema.out())); }
  Owned<ArrowSchema> schema;
  Owned<ArrowArray> array;
};

// Imports a copy of the structs, so that the library's test keeps its own.
BatchPtr to_arrow(const ArrowSchema& schema, const ArrowDeviceArray& array) {
  Schema type = output_of(arrowdevice_schema_copy, &schema);
  Array copied = copy(array, schema, cpu(), ARROWDEVICE_COPY_ALWAYS);
  return ok(arrow::ImportRecordBatch(&copied->array, type.get()));
}

void validate(const Owned<ArrowSchema>& schema, Owned<ArrowArray> array) {
  const Array whole = from_host(std::move(array));
  must(arrowdevice_array_validate, whole.get(), schema.get(), static_cast<arrowdevice_device*>(nullptr),
       ARROWDEVICE_VALIDATE_FULL);
}

// Writes batches with Arrow C++, and compares them after the library has read them.
void check_read(const SchemaPtr& schema, const std::vector<BatchPtr>& batches) {
  ReadStream read = read_stream(write_by_arrow(schema, batches));
  REQUIRE(read.batches.size() == batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    const Exported expected(*batches[i]);
    CHECK(difference(*expected.schema, *expected.array, *read.schema, *read.batches[i]) == "");
    validate(read.schema, std::move(read.batches[i]));
  }
  CHECK(ok(arrow::ImportSchema(read.schema.get()))->Equals(*schema, true));
}

// The library writes batches, and Arrow C++ reads what it has itself.
void check_write(const SchemaPtr& schema, const std::vector<BatchPtr>& batches) {
  Owned<ArrowSchema> type;
  ok(arrow::ExportSchema(*schema, type.out()));
  std::vector<Array> copied;
  std::vector<const ArrowArray*> arrays;
  for (const auto& batch : batches) {
    const Array host = from_host(std::move(Exported(*batch).array));
    copied.push_back(copy(*host, *type, cpu(), ARROWDEVICE_COPY_ALWAYS));
  }
  for (const auto& array : copied) arrays.push_back(&array->array);
  const Bytes stream = write_stream(*type, arrays);
  const ArrowStream back = read_by_arrow(stream);
  CHECK(back.schema->Equals(*schema, true));
  REQUIRE(back.batches.size() == batches.size());
  for (size_t i = 0; i < batches.size(); ++i) {
    ok(back.batches[i]->ValidateFull());
    CHECK(same(*back.batches[i], *batches[i]));
  }
}

TEST_CASE("Arrow C++ reads arrays of every type as the library writes them") {
  begin();
  for (const HostCase& one : asked_cases()) {
    if (!is_writable(one.type) || !is_known_to_arrow_cpp(one.type)) continue;
    INFO(one.name);
    const SentBatch sent(one);
    const Bytes stream = write_stream(*sent.schema, {&sent.array->array, &sent.array->array});
    const ArrowStream back = read_by_arrow(stream);
    REQUIRE(back.batches.size() == 2);
    const Exported exported(*back.batches[1]);
    CHECK(difference(*sent.schema, sent.original->array, *exported.schema, *exported.array) == "");
    const BatchPtr expected = to_arrow(*sent.schema, *sent.array);
    CHECK(back.schema->Equals(*expected->schema(), true));
  }
}

TEST_CASE("the library reads arrays of every type as Arrow C++ writes them") {
  begin();
  for (const HostCase& one : asked_cases()) {
    // Arrow C++ writes wrong offsets for slices of dense unions whose offsets do not ascend.
    if (!is_writable(one.type) || !is_known_to_arrow_cpp(one.type) || one.knobs.shuffled) continue;
    INFO(one.name);
    const SentBatch sent(one);
    const BatchPtr batch = to_arrow(*sent.schema, *sent.array);
    const int64_t rows = batch->num_rows();
    check_read(batch->schema(), {batch, batch->Slice(rows / 3, rows / 2), batch->Slice(rows)});
  }
}

void check_both(const SchemaPtr& schema, const std::vector<BatchPtr>& batches) {
  INFO(schema->ToString(true));
  check_read(schema, batches);
  check_write(schema, batches);
}

TEST_CASE("Arrow C++ and the library agree on metadata, names and extension types") {
  begin();
  const auto metadata =
      arrow::key_value_metadata({"twice", "twice", "", "bytes"}, {"1", "2", "", std::string("a\0b", 3)});
  const auto uuids = arrow::ExtensionType::WrapArray(
      arrow::extension::uuid(), from_json(arrow::fixed_size_binary(16), R"(["0123456789abcdef", null])"));
  const auto shared = arrow::dictionary(arrow::int16(), arrow::utf8(), true);
  const auto schema =
      arrow::schema({arrow::field("", arrow::int8(), false), arrow::field("same", arrow::utf8(), metadata),
                     arrow::field("same", uuids->type()), arrow::field("ordered", shared)},
                    metadata);
  const ArrayPtr ordered = ok(arrow::DictionaryArray::FromArrays(shared, from_json(arrow::int16(), "[1, null]"),
                                                                 from_json(arrow::utf8(), R"(["a", "b"])")));
  const auto batch = arrow::RecordBatch::Make(
      schema, 2, {from_json(arrow::int8(), "[1, 2]"), from_json(arrow::utf8(), R"(["x", "y"])"), uuids, ordered});
  check_both(schema, {batch, batch->Slice(1), batch->Slice(2)});
  check_both(schema, {});
}

TEST_CASE("Arrow C++ and the library agree on batches without columns and without rows") {
  begin();
  const auto none = arrow::schema({});
  check_both(none, {arrow::RecordBatch::Make(none, 7, std::vector<ArrayPtr>{}),
                    arrow::RecordBatch::Make(none, 0, std::vector<ArrayPtr>{})});
  const auto texts = arrow::schema({arrow::field("texts", arrow::utf8()), arrow::field("views", arrow::utf8_view())});
  check_both(texts, {ok(arrow::RecordBatch::MakeEmpty(texts))});
}

TEST_CASE("Arrow C++ and the library read the same golden files", "[.golden]") {
  begin();
  const char* const folder = std::getenv("ARROWDEVICE_GOLDEN_DATA");
  REQUIRE(folder != nullptr);
  int n = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    INFO(file.path());
    std::ifstream in(file.path(), std::ios::binary);
    const Bytes stream{std::istreambuf_iterator<char>(in), {}};
    const ArrowStream expected = read_by_arrow(stream);
    const ReadStream read = read_stream(stream);
    REQUIRE(read.batches.size() == expected.batches.size());
    std::vector<const ArrowArray*> arrays;
    for (size_t i = 0; i < read.batches.size(); ++i) {
      const Exported batch(*expected.batches[i]);
      CHECK(difference(*batch.schema, *batch.array, *read.schema, *read.batches[i]) == "");
      arrays.push_back(read.batches[i].get());
    }
    const Bytes written = write_stream(*read.schema, arrays);
    const ArrowStream again = read_by_arrow(written);
    CHECK(again.schema->Equals(*expected.schema, true));
    REQUIRE(again.batches.size() == expected.batches.size());
    for (size_t i = 0; i < again.batches.size(); ++i) CHECK(again.batches[i]->Equals(*expected.batches[i], true));
    ++n;
  }
  CHECK(n >= 30);
}

}  // namespace
