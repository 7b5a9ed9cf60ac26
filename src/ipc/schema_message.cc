// SPDX-License-Identifier: Apache-2.0
#include "ipc/schema_message.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ipc/types.h"
#include "schema/metadata.h"

namespace arrowdevice::ipc {
namespace {

using schema::UniqueSchema;

constexpr int16_t kLittleEndian = 0;

void add_dictionary_fields(const schema::Tree& tree, int32_t index, std::vector<int32_t>& found) {
  const auto& field = tree[index];
  if (field.dictionary >= 0) {
    found.push_back(index);
    add_dictionary_fields(tree, field.dictionary, found);
  }
  if (field.is_plain) return;
  for (int32_t i = 0; i < field.n_children; ++i) add_dictionary_fields(tree, field.first_child + i, found);
}

// Writes the fields of a schema. Functions recurse as deep as the schema, at most schema::kDeepest levels.
class SchemaWriter {
 public:
  explicit SchemaWriter(const schema::Tree& tree) : tree_(tree) {}

  Bytes write(const char* message_metadata) {
    const ArrowSchema& root = *tree_[0].source;
    const Written fields = write_children(0);
    const Written metadata = write_metadata(writer_, root.metadata);
    const Written header = writer_.table([&] {
      writer_.number<int16_t>(schema_table::kEndianness, kLittleEndian, kLittleEndian);
      writer_.refer(schema_table::kFields, fields);
      writer_.refer(schema_table::kMetadata, metadata);
    });
    return write_message(writer_, MessageKind::kSchema, header, 0, message_metadata);
  }

 private:
  Written write_children(int32_t index) {
    std::vector<Written> written;
    written.reserve(static_cast<size_t>(tree_[index].n_children));
    for (int32_t i = 0; i < tree_[index].n_children; ++i) written.push_back(write_field(tree_[index].first_child + i));
    return writer_.tables(written);
  }

  // In IPC the field has the type of the dictionary's values, and their children.
  Written write_field(int32_t index) {
    const ArrowSchema& source = *tree_[index].source;
    const bool is_encoded = tree_[index].dictionary >= 0;
    const int32_t values = is_encoded ? tree_[index].dictionary : index;
    const Written encoding = is_encoded ? write_encoding(index) : Written();
    const Written children = write_children(values);
    const WrittenType type = write_values_type(values);
    const Written name = source.name != nullptr ? writer_.text(source.name) : Written();
    const Written metadata = write_metadata(writer_, source.metadata);
    return writer_.table([&] {
      writer_.refer(field_table::kName, name);
      writer_.refer(field_table::kType, type.table);
      writer_.refer(field_table::kDictionary, encoding);
      writer_.refer(field_table::kChildren, children);
      writer_.refer(field_table::kMetadata, metadata);
      writer_.number<uint8_t>(field_table::kTypeTag, static_cast<uint8_t>(type.tag), 0);
      writer_.number<bool>(field_table::kNullable, (source.flags & ARROW_FLAG_NULLABLE) != 0, false);
    });
  }

  WrittenType write_values_type(int32_t index) {
    const ArrowSchema& source = *tree_[index].source;
    try {
      return write_type(writer_, source.format, source.flags);
    } catch (const Error& error) {
      throw Error(error.code(), tree_.path(index) + ": " + error.message());
    }
  }

  // Ids ascend in the order of dictionary_fields(), so a field takes its id before the fields below it.
  Written write_encoding(int32_t index) {
    const int64_t id = next_dictionary_++;
    const auto& values = tree_[tree_[index].dictionary];
    if (values.dictionary >= 0) refuse(tree_[index].dictionary, "IPC has no dictionaries of dictionaries");
    if (!schema::metadata_pairs(values.source->metadata).empty()) {
      refuse(tree_[index].dictionary, "IPC has no place for the metadata of a dictionary");
    }
    const ArrowSchema& source = *tree_[index].source;
    const Written index_type = write_index_type(writer_, source.format);
    return writer_.table([&] {
      writer_.number<int64_t>(dictionary_encoding::kId, id, 0);
      writer_.refer(dictionary_encoding::kIndexType, index_type);
      writer_.number<bool>(dictionary_encoding::kIsOrdered, (source.flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0, false);
    });
  }

  [[noreturn]] void refuse(int32_t index, const char* why) const {
    throw Error(ENOTSUP, tree_.path(index) + ": " + why);
  }

  const schema::Tree& tree_;
  FlatWriter writer_;
  int64_t next_dictionary_ = 0;
};

// Reads the fields of a schema. Functions recurse as deep as the schema.
class SchemaReader {
 public:
  static SchemaMessage read(const FlatTable& table) {
    SchemaReader reader;
    try {
      return reader.read_root(table);
    } catch (const Error& error) {
      throw Error(error.code(), reader.path() + ": " + error.message());
    }
  }

 private:
  // Returns the path of the field that is being read.
  std::string path() const {
    std::string path = "batch";
    for (const auto& step : path_) path += '.' + step;
    return schema::shorten_path(std::move(path));
  }

  SchemaMessage read_root(const FlatTable& table) {
    if (table.number<int16_t>(schema_table::kEndianness, kLittleEndian) != kLittleEndian) {
      throw Error(ENOTSUP, "the data is big-endian");
    }
    auto children = read_children(table, schema_table::kFields);
    auto metadata = read_metadata(table, schema_table::kMetadata);
    return {schema::make_schema({"+s", {}, std::move(metadata)}, 0, std::move(children), {}),
            std::move(dictionary_ids_)};
  }

  std::vector<UniqueSchema> read_children(const FlatTable& table, Slot slot) {
    const int64_t n = table.count(slot);
    if (n == 0) return {};
    // Schemas have the root too, and as many levels as the library accepts.
    if (path_.size() + 1 == schema::kDeepest) {
      throw Error(EINVAL, "nested deeper than " + std::to_string(schema::kDeepest) + " levels");
    }
    std::vector<UniqueSchema> children;
    for (int64_t i = 0; i < n; ++i) {
      path_.push_back('[' + std::to_string(i) + ']');
      children.push_back(read_field(table.element(slot, i)));
      path_.pop_back();
    }
    return children;
  }

  std::optional<std::string> read_name(const FlatTable& table) {
    const auto name = table.text(field_table::kName);
    if (!name) return std::nullopt;
    if (!name->empty()) path_.back() = name->substr(0, schema::kLongestPath);
    if (name->find('\0') != std::string_view::npos) throw Error(EINVAL, "the name has a zero byte");
    return std::string(*name);
  }

  UniqueSchema read_field(const FlatTable& table) {
    auto name = read_name(table);
    const auto encoding = table.table(field_table::kDictionary);
    if (encoding) dictionary_ids_.push_back(encoding->number<int64_t>(dictionary_encoding::kId, 0));
    ReadType type = read_type(table);
    auto children = read_children(table, field_table::kChildren);
    schema::SchemaTexts texts{std::move(type.format), std::move(name), read_metadata(table, field_table::kMetadata)};
    const int64_t nullable = table.number<bool>(field_table::kNullable, false) ? ARROW_FLAG_NULLABLE : 0;
    if (!encoding) return schema::make_schema(std::move(texts), nullable | type.flags, std::move(children), {});

    // The dictionary's values are nullable, because they may be.
    auto values = schema::make_schema({std::move(texts.format), {}, {}}, ARROW_FLAG_NULLABLE | type.flags,
                                      std::move(children), {});
    texts.format = read_index_type(*encoding);
    const bool is_ordered = encoding->number<bool>(dictionary_encoding::kIsOrdered, false);
    return schema::make_schema(std::move(texts), nullable | (is_ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0), {},
                               std::move(values));
  }

  std::vector<std::string> path_;
  std::vector<int64_t> dictionary_ids_;
};

}  // namespace

std::vector<int32_t> dictionary_fields(const schema::Tree& tree) {
  std::vector<int32_t> found;
  add_dictionary_fields(tree, 0, found);
  return found;
}

Bytes write_schema(const ArrowSchema& schema, const char* message_metadata) {
  const schema::Tree tree(schema);
  if (tree[0].type.layout != schema::Layout::kStruct) {
    throw Error(EINVAL, tree.path(0) + ": the schema of record batches is a struct");
  }
  return SchemaWriter(tree).write(message_metadata);
}

SchemaMessage read_schema(const Message& message) {
  if (message.kind() != MessageKind::kSchema) {
    throw Error(EINVAL, "the message is " + name_of(message.kind()) + " (expected a schema)");
  }
  SchemaMessage read = SchemaReader::read(message.header());
  const schema::Tree checked(read.schema.get());
  return read;
}

}  // namespace arrowdevice::ipc
