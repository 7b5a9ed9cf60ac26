// SPDX-License-Identifier: Apache-2.0
// Batches as messages, the plan of a body, and batches whose numbers are wrong.
#include <functional>
#include <limits>
#include <string>

#include "ipc_batches.h"
#include "schema_refusal.h"

namespace {

using namespace library_test;      // NOLINT: what every line of these tests is written with
using namespace ipc_test;          // NOLINT: the same
using namespace arrowdevice::ipc;  // NOLINT: the same
using arrowdevice::schema::is_refused;
using arrowdevice::schema::Refusal;
using arrowdevice::schema::refusal_by;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A batch that is valid until a test changes it: the columns "text", "views", "list", "both" and "null".
struct Spoiled {
  Spoiled() : schema(make_schema(type())) {
    const Knobs knobs{.rows = 5, .nulls = Nulls::kAll, .variadic = 2, .longest_text = 40};
    array = from_host(make_array(generate(type(), knobs), Ledger()));
    packed = pack(*schema, array->array, Columns::kChildren);
  }
  static Field type() {
    return struct_of({field("u", "text"), field("vz", "views"), list_of(field("i")).named("list"),
                      dense_union_of("1,2", {field("c"), field("b")}).named("both"), field("n", "null")})
        .not_null();
  }

  Schema schema;
  Array array;
  PackedBatch packed;
};

// The nodes of the columns, and their first buffers.
enum NodeOf : size_t { kText, kViews, kList, kItems, kBoth };
enum BufferOf : size_t { kTextValidity, kTextOffsets, kTextBytes, kViewsValidity, kViewsViews, kViewsFirst };

Refusal refusal_of(const std::function<void(PackedBatch&)>& spoil) {
  Spoiled spoiled;
  spoil(spoiled.packed);
  const auto& [batch, body] = spoiled.packed;
  return refusal_by([&] { unpack(*spoiled.schema, Columns::kChildren, batch, body); });
}

// Changes a buffer and returns the refusal.
Refusal refusal_of_buffer(size_t index, BodyBuffer changed) {
  return refusal_of([&](PackedBatch& packed) { packed.batch.buffers[index] = changed; });
}

}  // namespace

TEST_CASE("a batch message has the numbers that were written") {
  const Batch record{.length = 3,
                     .nodes = {{3, 1}, {4, 0}},
                     .buffers = {{0, 1}, {64, 12}, {128, 0}},
                     .variadic_counts = {2, 0},
                     .body_length = 128,
                     .dictionary = {},
                     .has_union_bitmaps = false};
  Batch values = record;
  values.dictionary = {.id = 7, .is_delta = true};
  const std::string metadata = encode_metadata({{"k", "v"}});
  for (const Batch& batch : {record, values, Batch{}}) {
    const Bytes bytes = write_batch(batch, metadata.c_str());
    const Message message(bytes);
    CHECK(read_batch(message) == batch);
    CHECK(message.metadata() == metadata);
    // Readers of a stream may find a message at any address.
    Bytes moved{0};
    moved.insert(moved.end(), bytes.begin(), bytes.end());
    CHECK(read_batch(Message(std::span(moved).subspan(1))) == batch);
  }
  const Bytes schema = write_schema(*make_schema(struct_of({})));
  CHECK(is_refused(refusal_by([&] { read_batch(Message(schema)); }), EINVAL, "a schema (expected a batch)"));
}

TEST_CASE("a compressed body is refused with the name of its codec") {
  for (const auto& [codec, name] : {std::pair{0, "LZ4_FRAME"}, {1, "ZSTD"}, {9, "the unknown codec 9"}}) {
    FlatWriter writer;
    const Written compressed =
        writer.table([&, value = codec] { writer.number<int8_t>(compression::kCodec, static_cast<int8_t>(value), 0); });
    const Written data = writer.table([&] { writer.refer(record_batch::kCompression, compressed); });
    const Bytes bytes = write_message(writer, MessageKind::kRecordBatch, data, 0, nullptr);
    CHECK(is_refused(refusal_by([&] { read_batch(Message(bytes)); }), ENOTSUP, name));
  }
}

TEST_CASE("a dictionary batch without data is refused") {
  FlatWriter writer;
  const Bytes bytes = write_message(writer, MessageKind::kDictionaryBatch, writer.table([] {}), 0, nullptr);
  CHECK(is_refused(refusal_by([&] { read_batch(Message(bytes)); }), EINVAL, "no data"));
}

TEST_CASE("a batch with a wrong number of nodes, buffers or counts is refused") {
  begin();
  CHECK(refusal_of([](PackedBatch&) {}).code == 0);
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.nodes.pop_back(); }), EINVAL,
                   "batch: the batch has 7 nodes (expected 8)"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.nodes.push_back({}); }), EINVAL, "9 nodes (expected 8)"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.buffers.pop_back(); }), EINVAL,
                   "batch.both.f1: the batch has only"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.buffers.push_back({}); }), EINVAL, "buffers (expected"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.variadic_counts.clear(); }), EINVAL,
                   "batch.views: the batch has only 0"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.variadic_counts.push_back(0); }), EINVAL,
                   "2 variadic counts (expected 1)"));
  for (const int64_t wrong : {int64_t{-1}, int64_t{100}, kMost}) {
    CHECK(is_refused(refusal_of([&](PackedBatch& p) { p.batch.variadic_counts = {wrong}; }), EINVAL,
                     "batch.views: the variadic count is " + std::to_string(wrong)));
  }
}

TEST_CASE("a batch with a wrong length or null count is refused with the path") {
  begin();
  const auto refuses_node = [](size_t index, FieldNode node, const std::string& text) {
    return is_refused(refusal_of([&](PackedBatch& p) { p.batch.nodes[index] = node; }), EINVAL, text);
  };
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.length = -1; }), EINVAL, "batch: the batch has length -1"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.length = 4; }), EINVAL,
                   "batch.text: length is 5, and the batch has length 4"));
  CHECK(refuses_node(kText, {-5, 0}, "batch.text: length is -5"));
  CHECK(refuses_node(kText, {6, 0}, "batch.text: length is 6, and the batch has length 5"));
  CHECK(refuses_node(kItems, {-1, 0}, "batch.list.item: length is -1"));
  CHECK(refuses_node(kItems, {1000, 0}, "batch.list.item: the data buffer"));
  CHECK(refuses_node(kItems, {kMost, 0}, "batch.list.item: length is 9223372036854775807: a size or position"));
  CHECK(refuses_node(kText, {5, 6}, "batch.text: null_count is 6, length 5"));
  CHECK(refuses_node(kText, {5, -2}, "batch.text: null_count is -2"));
  CHECK(refuses_node(kBoth, {5, 1}, "batch.both: a dense union has no nulls of its own"));
  CHECK(refusal_of([](PackedBatch& p) { p.batch.nodes[kText].null_count = -1; }).code == 0);
}

TEST_CASE("all slots of type null are null, even if the batch counts none") {
  begin();
  Spoiled sent;
  sent.packed.batch.nodes.back().null_count = 0;
  const auto array = unpack(*sent.schema, Columns::kChildren, sent.packed.batch, sent.packed.body);
  CHECK(array->children[4]->null_count == 5);
}

TEST_CASE("a bitmap that is too short is refused, unless there are no nulls") {
  begin();
  const Sample sample(struct_of({field("i", "x")}).not_null(), {.rows = 12, .nulls = Nulls::kAll});
  auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
  packed.batch.buffers[0].length = 1;
  for (const int64_t nulls : {12, -1}) {
    packed.batch.nodes[0].null_count = nulls;
    CHECK(is_refused(refusal_by([&] { unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body); }), EINVAL,
                     "batch.x: the validity buffer has 1 bytes, length is 12"));
  }
  packed.batch.nodes[0].null_count = 0;
  CHECK(unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body)->children[0]->buffers[0] == nullptr);
}

TEST_CASE("a buffer outside of the body is refused with the path") {
  begin();
  for (const BodyBuffer wrong : {BodyBuffer{-8, 24}, {0, -1}, {kMost, 24}, {1 << 20, 24}, {0, kMost}, {8, kMost}}) {
    CHECK(is_refused(refusal_of_buffer(kTextOffsets, wrong), EINVAL,
                     "batch.text: the offsets buffer with offset " + std::to_string(wrong.offset) + " and length " +
                         std::to_string(wrong.length) + " is outside of the body"));
  }
  CHECK(is_refused(refusal_of_buffer(kTextOffsets, {4, 24}), EINVAL, "is not aligned to 8 bytes"));
  CHECK(is_refused(refusal_of_buffer(kTextOffsets, {0, 23}), EINVAL, "is too short, 24 bytes are needed"));
  CHECK(is_refused(refusal_of_buffer(kTextOffsets, {0, 0}), EINVAL, "is too short"));
  CHECK(is_refused(refusal_of_buffer(kTextValidity, {0, 0}), EINVAL, "batch.text: the validity buffer"));
  CHECK(is_refused(refusal_of_buffer(kViewsFirst, {0, kMost}), EINVAL, "batch.views: the variadic buffer"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.body_length += 1; }), EINVAL, "and the message says"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.body_length = -1; }), EINVAL, "and the message says -1"));
  CHECK(is_refused(refusal_of([](PackedBatch& p) { p.batch.body_length = 64; }), EINVAL,
                   "is outside of the body, which has 64"));
}

TEST_CASE("buffers that overlap until they need more than the body are refused") {
  begin();
  CHECK(is_refused(refusal_of([](PackedBatch& p) {
                     for (auto& buffer : p.batch.buffers) buffer = {0, p.batch.body_length};
                   }),
                   EINVAL, "overlaps others"));
}

TEST_CASE("a last offset behind the bytes of a text is refused") {
  begin();
  for (const int32_t wrong : {1000, -1}) {
    CHECK(is_refused(refusal_of([&](PackedBatch& p) {
                       std::memcpy(p.body.data() + p.batch.buffers[kTextOffsets].offset + 20, &wrong, sizeof wrong);
                     }),
                     EINVAL, "batch.text: the last offset is " + std::to_string(wrong) + ", and there are"));
  }
}

TEST_CASE("a body that the host cannot read is not read") {
  begin();
  const Spoiled sent;
  const Body body{reinterpret_cast<const void*>(64), sent.packed.batch.body_length, false};
  Owned<ArrowArray> out;
  array_over_body(arrowdevice::schema::Tree(*sent.schema), Columns::kChildren, sent.packed.batch, body, {}, nullptr,
                  out.out());
  const auto address = [&](size_t buffer) {
    return reinterpret_cast<const void*>(64 + sent.packed.batch.buffers[buffer].offset);
  };
  CHECK(out->children[kText]->buffers[1] == address(kTextOffsets));
  CHECK(out->children[kViews]->buffers[1] == address(kViewsViews));
}

TEST_CASE("an array without slots has an offset, even if the body has none") {
  begin();
  const auto schema = make_schema(struct_of({field("u"), large_list_of(field("i"))}).not_null());
  const Batch empty{.nodes = {{0, 0}, {0, 0}, {0, 0}},
                    .buffers = std::vector<BodyBuffer>(7),
                    .variadic_counts = {},
                    .dictionary = {}};
  const auto array = unpack(*schema, Columns::kChildren, empty, {});
  for (const int64_t column : {0, 1}) {
    const void* const offsets = array->children[column]->buffers[1];
    REQUIRE(offsets != nullptr);
    CHECK(std::memcmp(offsets, "\0\0\0\0\0\0\0\0", column == 0 ? 4 : 8) == 0);
  }
}

TEST_CASE("a missing dictionary is refused with the path") {
  begin();
  const Sample sample(struct_of({dictionary_of("i", field("u")).named("x")}).not_null());
  const auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
  const auto unpack_with = [&](std::vector<const ArrowArray*> dictionaries) {
    return refusal_by([&] { unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body, dictionaries); });
  };
  CHECK(is_refused(unpack_with({nullptr}), EINVAL, "batch.x: the dictionary is missing"));
  CHECK(is_refused(unpack_with({}), EINVAL, "there are 0 dictionaries (expected 1)"));
}

TEST_CASE("unions of version 4 have a bitmap, which is not read") {
  begin();
  const Sample sample(struct_of({sparse_union_of("1,2", {field("i"), field("u")})}).not_null());
  auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
  auto& buffers = packed.batch.buffers;
  CHECK(refusal_by([&] { unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body); }).code == 0);
  packed.batch.has_union_bitmaps = true;
  CHECK(is_refused(refusal_by([&] { unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body); }), EINVAL,
                   "buffer"));
  buffers.insert(buffers.begin(), {0, 0});
  const auto array = unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body);
  CHECK(difference(*sample.schema, *sample.twin, *sample.schema, *array) == "");
}

TEST_CASE("a packed body has aligned buffers in the order of the format") {
  begin();
  const Spoiled sent;
  const Batch& batch = sent.packed.batch;
  const std::vector<FieldNode> nodes{{5, 5}, {5, 5}, {5, 5}, {batch.nodes[kItems].length, batch.nodes[kItems].length}};
  CHECK(std::equal(nodes.begin(), nodes.end(), batch.nodes.begin()));
  CHECK(batch.variadic_counts == std::vector<int64_t>{2});
  CHECK(batch.buffers[kTextOffsets] == BodyBuffer{64, 24});
  for (const auto& buffer : batch.buffers) CHECK(buffer.offset % 64 == 0);
  CHECK(batch.body_length % 64 == 0);
  CHECK(sent.packed.body.size() == static_cast<size_t>(batch.body_length));
  // Padding is zeros.
  CHECK(sent.packed.body[batch.buffers[kTextOffsets].offset + 24] == 0);
}

TEST_CASE("a plan counts unknown nulls on the host and drops bitmaps without nulls") {
  begin();
  const auto null_count_of = [](Nulls nulls) {
    const Sample sample(struct_of({field("i")}).not_null(), {.rows = 70, .nulls = nulls});
    const auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
    CHECK((packed.batch.buffers[0].length == 0) == (packed.batch.nodes[0].null_count == 0));
    return packed.batch.nodes[0].null_count;
  };
  CHECK(null_count_of(Nulls::kSomeUncounted) > 0);
  CHECK(null_count_of(Nulls::kNoneUncounted) == 0);
  CHECK(null_count_of(Nulls::kNoneWithBitmap) == 0);
  CHECK(null_count_of(Nulls::kAll) == 70);
}

TEST_CASE("a packed array without slots has an offset") {
  begin();
  const Sample sample(struct_of({field("u"), field("U")}).not_null(), {.rows = 0, .null_offsets = true});
  const auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
  CHECK(packed.batch.buffers[kTextOffsets].length == 4);
  CHECK(packed.batch.buffers[kTextBytes + 2].length == 8);
}

TEST_CASE("columns that are longer than their batch are cut") {
  begin();
  Sample sample(struct_of({field("i"), field("u")}).not_null(), {.rows = 40});
  sample.host->array.length = 9;
  const auto packed = pack(*sample.schema, sample.host->array, Columns::kChildren);
  CHECK(packed.batch.nodes[1].length == 9);
  const auto array = unpack(*sample.schema, Columns::kChildren, packed.batch, packed.body);
  CHECK(problem(*sample.schema, *array) == "");
  CHECK(difference(*sample.schema, *sample.twin, 0, *sample.schema, *array, 0, 9) == "");
}

TEST_CASE("arrays that IPC cannot express are not packed") {
  begin();
  const auto refusal_of_packing = [](const Field& type, const Knobs& knobs) {
    const Sample sample(type, knobs);
    return refusal_by([&] { pack(*sample.schema, sample.host->array, Columns::kChildren); });
  };
  const Field columns = struct_of({field("i"), field("u")});
  CHECK(is_refused(refusal_of_packing(columns, {.rows = 9}), EINVAL, "batch: null_count is"));
  CHECK(is_refused(refusal_of_packing(columns.not_null(), {.offset = 3}), EINVAL, "batch: the offset is 3"));
  CHECK(is_refused(refusal_of_packing(columns.not_null(), {.child_offset = 2}), EINVAL, "node 0 has offset 2"));

  const Sample text(struct_of({field("u", "x")}).not_null());
  const arrowdevice::schema::Tree tree(*text.schema);
  const arrowdevice::schema::Binding bound(tree, text.host->array);
  const int64_t sizes[] = {0, 8, 160, -1};
  CHECK(is_refused(refusal_by([&] { plan_body(bound, Columns::kChildren, sizes, true); }), EINVAL,
                   "batch.x: the size of the data buffer is unknown"));
}
