// SPDX-License-Identifier: Apache-2.0
// Schemas as messages: their texts and flags, and the messages that are refused.
#include <string>
#include <utility>
#include <vector>

#include "ipc/schema_message.h"
#include "ipc/types.h"
#include "schema_refusal.h"
#include "support/cases.h"
#include "support/catch.h"

namespace {

using namespace arrowdevice::ipc;      // NOLINT: what every line of these tests is written with
using namespace arrowdevice::testing;  // NOLINT: the same
using arrowdevice::schema::is_refused;
using arrowdevice::schema::Refusal;
using arrowdevice::schema::refusal_by;

// Returns all that a schema says, except for the name of a dictionary, which IPC does not have.
std::string describe(const ArrowSchema& schema, bool is_dictionary = false) {
  // Both of these mean the same.
  const std::string format = schema.format == std::string("d:38,0,128") ? "d:38,0" : schema.format;
  std::string text = format + " flags " + std::to_string(schema.flags);
  if (!is_dictionary) text += schema.name == nullptr ? " nameless" : " \"" + std::string(schema.name) + "\"";
  text += " metadata \"" + metadata_bytes(schema.metadata) + "\" [";
  for (int64_t i = 0; i < schema.n_children; ++i) text += describe(*schema.children[i]) + ", ";
  text += "]";
  return schema.dictionary == nullptr ? text : text + " of " + describe(*schema.dictionary, true);
}

Field batch_of(Field column) { return struct_of({std::move(column)}).not_null(); }

Refusal refusal_of_writing(const Field& type) {
  return refusal_by([&] { write_schema(*make_schema(type)); });
}

Refusal refusal_of_reading(std::span<const uint8_t> bytes) {
  return refusal_by([&] { read_schema(Message(bytes)); });
}

// A schema message of one field that a test may spoil.
struct Draft {
  TypeTag tag = TypeTag::kInt;
  std::vector<std::pair<Slot, int32_t>> ints = {};    // parameters of the type
  std::vector<std::pair<Slot, int16_t>> shorts = {};  // the same
  std::string zone = {};
  std::vector<int32_t> type_ids = {};
  std::string name = "f";
  int32_t index_bits = 0;  // of a dictionary-encoded field
  bool has_index_type = true;
  TypeTag around = TypeTag::kStruct;
  int16_t endianness = 0;
  int16_t version = kVersion5;
  uint8_t kind = static_cast<uint8_t>(MessageKind::kSchema);
  int64_t body_length = 0;
  bool has_header = true;
  int levels = 0;            // of that type around the field
  int copies = 1;            // times that each level has the same child
  bool has_another = false;  // a field of type null comes first

  Bytes write() {
    Written field = write_field();
    for (int i = 0; i < levels; ++i) field = write_struct(field);
    const Written other = writer.table([&] { writer.number<uint8_t>(field_table::kTypeTag, 1, 0); });
    const Written fields = writer.tables(has_another ? std::vector{other, field} : std::vector{field});
    const Written header = writer.table([&] {
      writer.number<int16_t>(schema_table::kEndianness, endianness, 0);
      writer.refer(schema_table::kFields, fields);
    });
    return writer.finish(writer.table([&] {
      writer.number<int64_t>(message::kBodyLength, body_length, 0);
      if (has_header) writer.refer(message::kHeader, header);
      writer.number<int16_t>(message::kVersion, version, 0);
      writer.number<uint8_t>(message::kHeaderType, kind, 0);
    }));
  }

  Written write_field() {
    const Written text = !zone.empty()       ? writer.text(zone)
                         : !type_ids.empty() ? writer.vector<int32_t>(type_ids)
                                             : Written();
    const Written type = writer.table([&] {
      for (const auto& [slot, value] : ints) writer.number<int32_t>(slot, value, -77);
      for (const auto& [slot, value] : shorts) writer.number<int16_t>(slot, value, -77);
      writer.refer(1, text);
    });
    const Written index = writer.table([&] { writer.number<int32_t>(0, index_bits, 0); });
    const Written encoding = index_bits == 0 ? Written() : writer.table([&] {
      writer.refer(dictionary_encoding::kIndexType, has_index_type ? index : Written());
    });
    const Written written_name = writer.text(name);
    return writer.table([&] {
      writer.refer(field_table::kName, written_name);
      writer.refer(field_table::kType, type);
      writer.refer(field_table::kDictionary, encoding);
      writer.number<uint8_t>(field_table::kTypeTag, static_cast<uint8_t>(tag), 0);
    });
  }

  Written write_struct(Written child) {
    const Written children = writer.tables(std::vector<Written>(static_cast<size_t>(copies), child));
    return writer.table([&] {
      writer.refer(field_table::kChildren, children);
      writer.number<uint8_t>(field_table::kTypeTag, static_cast<uint8_t>(around), 0);
    });
  }

  FlatWriter writer = {};
};

Refusal refusal_of(Draft draft) { return refusal_of_reading(draft.write()); }

TEST_CASE("schemas of every type come back with names, flags and metadata") {
  for (const auto* types : {&flat_types(), &nested_types()}) {
    for (const NamedType& one : *types) {
      INFO(one.name);
      if (one.name == "dictionary of a dictionary") continue;
      for (const Field& type : {batch_of(one.type), batch_of(one.type.not_null().with_metadata("k", "v"))}) {
        const Owned<ArrowSchema> schema = make_schema(type);
        const Bytes bytes = write_schema(*schema);
        const Message message(bytes);
        const SchemaMessage read = read_schema(message);
        CHECK(describe(read.schema.get()) == describe(*schema));
        CHECK(read.dictionary_ids.size() == dictionary_fields(arrowdevice::schema::Tree(*schema)).size());
      }
    }
  }
}

TEST_CASE("a message has the metadata that was written, and no body unless it says so") {
  const auto schema = make_schema(batch_of(field("i")));
  const std::string metadata = encode_metadata({{"k", "1"}, {"k", std::string("\0", 1)}});
  const Bytes bytes = write_schema(*schema, metadata.c_str());
  const Message message(bytes);
  CHECK(message.metadata() == metadata);
  CHECK(message.body_length() == 0);
  CHECK(message.version() == kVersion5);
  CHECK(bytes.size() % 8 == 0);
  CHECK_FALSE(Message(write_schema(*schema, encode_metadata({}).c_str())).metadata());
}

TEST_CASE("dictionary ids are in depth-first order, the values before the next field") {
  const Field inner = dictionary_of("c", field("u"));
  const auto schema =
      make_schema(struct_of({dictionary_of("i", list_of(inner)), struct_of({inner, field("i")}), inner}));
  const Bytes bytes = write_schema(*schema);
  const SchemaMessage read = read_schema(Message(bytes));
  CHECK(read.dictionary_ids == std::vector<int64_t>{0, 1, 2, 3});
  const arrowdevice::schema::Tree tree(read.schema.get());
  std::vector<std::string> paths;
  for (const int32_t each : dictionary_fields(tree)) paths.push_back(tree.path(each));
  CHECK(paths == std::vector<std::string>{"batch.f0", "batch.f0.dictionary.item", "batch.f1.f0", "batch.f2"});
}

TEST_CASE("a schema that IPC cannot express is refused with the path of the field") {
  const Field values = dictionary_of("c", field("u"));
  CHECK(is_refused(refusal_of_writing(batch_of(dictionary_of("i", values).named("x"))), ENOTSUP,
                   "batch.x.dictionary: IPC has no dictionaries of dictionaries"));
  CHECK(is_refused(refusal_of_writing(batch_of(dictionary_of("i", field("u").with_metadata("k", "")).named("x"))),
                   ENOTSUP, "batch.x.dictionary: IPC has no place for the metadata of a dictionary"));
  for (const auto& type : {field("w:2147483648", "x"), fixed_size_list_of(2147483648, field("i")).named("x")}) {
    CHECK(is_refused(refusal_of_writing(batch_of(type)), ENOTSUP, "batch.x: IPC has no numbers above 2147483647"));
  }
  CHECK(is_refused(refusal_of_writing(field("i")), EINVAL, "array: the schema of record batches is a struct"));
}

TEST_CASE("a type that no schema has is refused with the path of the field") {
  CHECK(is_refused(refusal_of({.tag = TypeTag{99}}), ENOTSUP, "batch.f: the type has the unknown number 99"));
  CHECK(is_refused(refusal_of({.tag = TypeTag{0}}), ENOTSUP, "batch.f: the type has the unknown number 0"));
  CHECK(is_refused(refusal_of({.tag = TypeTag{99}, .name = "", .has_another = true}), ENOTSUP, "batch.[1]: the type"));
  CHECK(is_refused(refusal_of({.ints = {{0, 7}}}), EINVAL, "batch.f: no type Int has the parameters 7, 0"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kTime, .shorts = {{0, 3}}}), EINVAL,
                   "no type Time has the parameters 3, 32"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kDate, .shorts = {{0, 2}}}), EINVAL, "no type Date"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUnion, .shorts = {{0, 2}}}), EINVAL, "no type Union"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kFixedSizeBinary, .ints = {{0, -1}}}), EINVAL,
                   "batch.f: the format \"w:-1\""));
  CHECK(
      is_refused(refusal_of({.tag = TypeTag::kDecimal, .ints = {{0, 39}}}), EINVAL, "batch.f: the format \"d:39,0\""));
  CHECK(
      is_refused(refusal_of({.tag = TypeTag::kUnion, .type_ids = std::vector<int32_t>(129)}), EINVAL, "more than 128"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUnion, .type_ids = {1, 1}}), EINVAL, "the type id 1 is there twice"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kTimestamp, .zone = std::string("a\0b", 3)}), EINVAL,
                   "batch.f: the time zone"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kList}), EINVAL, "batch.f: n_children is 0, not 1"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .index_bits = 7}), EINVAL, "batch.f: no type Int"));
  CHECK(refusal_of({.tag = TypeTag::kUtf8, .index_bits = 32}).code == 0);
}

TEST_CASE("type ids that are left out ascend, and indices without a type are int32") {
  const auto format_of = [](Draft draft) {
    const Bytes bytes = draft.write();
    const SchemaMessage read = read_schema(Message(bytes));
    return std::string(read.schema.get().children[0]->format);
  };
  CHECK(format_of({.tag = TypeTag::kUtf8, .around = TypeTag::kUnion, .levels = 1, .copies = 3}) == "+us:0,1,2");
  CHECK(format_of({.tag = TypeTag::kUtf8, .index_bits = 8, .has_index_type = false}) == "i");
}

TEST_CASE("a schema that the library cannot hold is refused") {
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .name = std::string("g\0h", 3)}), EINVAL,
                   "the name has a zero byte"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .endianness = 1}), ENOTSUP, "the data is big-endian"));
  CHECK(refusal_of({.tag = TypeTag::kUtf8, .levels = 62}).code == 0);
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .levels = 63}), EINVAL, "nested deeper than 64 levels"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .levels = 200'000}), EINVAL, "nested deeper than 64 levels"));
}

TEST_CASE("a small message cannot look like a huge schema") {
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .levels = 40, .copies = 2}), EINVAL, "shared too often"));
  Draft draft{.tag = TypeTag::kUtf8, .name = std::string(100'000, 'x'), .levels = 1, .copies = 1000};
  CHECK(is_refused(refusal_of(std::move(draft)), EINVAL, "share the texts"));
}

TEST_CASE("a message of another version or kind is refused by its name") {
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .version = 2}), ENOTSUP, "metadata version V3"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .version = 5}), ENOTSUP, "metadata version V6"));
  CHECK(refusal_of({.tag = TypeTag::kUtf8, .version = kVersion4}).code == 0);
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .kind = 4}), ENOTSUP, "the message is a tensor"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .kind = 5}), ENOTSUP, "the message is a sparse tensor"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .kind = 0}), ENOTSUP, "of the unknown kind 0"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .kind = 3}), EINVAL, "a record batch (expected a schema)"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .has_header = false}), EINVAL, "no header"));
  CHECK(is_refused(refusal_of({.tag = TypeTag::kUtf8, .body_length = -1}), EINVAL, "the length of the body is -1"));
}

TEST_CASE("a message that ends too early is refused") {
  const Field columns =
      struct_of({field("tsn:UTC", "time").with_metadata("key", "value"), dictionary_of("c", field("u"))});
  const Bytes whole = write_schema(*make_schema(columns));
  CHECK(refusal_of_reading(whole).code == 0);
  for (size_t size = 0; size < whole.size(); ++size) {
    // Exact memory, so that the address sanitizer sees a read past the end.
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Refusal refusal = refusal_of_reading(part);
    const bool is_padding = whole.size() - size < 8 && refusal.code == 0;
    CHECK((is_padding || refusal.code == EINVAL || refusal.code == ENOTSUP));
  }
}

}  // namespace
