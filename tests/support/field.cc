// SPDX-License-Identifier: Apache-2.0
#include "support/field.h"

#include <atomic>
#include <cstring>

#include "support/callback.h"

namespace arrowdevice::testing {

namespace {

std::atomic<int64_t> live_fields{0};

struct SchemaOwner {
  std::string format, name, metadata;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  enter_callback("release of a schema");
  auto* owner = static_cast<SchemaOwner*>(schema->private_data);
  for (ArrowSchema& child : owner->children) {
    if (child.release != nullptr) child.release(&child);
  }
  if (owner->dictionary.release != nullptr) owner->dictionary.release(&owner->dictionary);
  delete owner;
  schema->release = nullptr;
  --live_fields;
}

void fill_schema(const Field& field, ArrowSchema* out) {
  auto owner = std::make_unique<SchemaOwner>();
  owner->format = field.format;
  owner->name = field.name;
  owner->children.resize(field.children.size());
  for (size_t i = 0; i < field.children.size(); ++i) {
    fill_schema(field.children[i], &owner->children[i]);
    owner->pointers.push_back(&owner->children[i]);
  }
  if (field.dictionary) fill_schema(*field.dictionary, &owner->dictionary);
  if (!field.metadata.empty()) owner->metadata = encode_metadata(field.metadata);

  *out = ArrowSchema{};
  out->format = owner->format.c_str();
  out->name = field.name.empty() ? nullptr : owner->name.c_str();
  out->metadata = field.metadata.empty() ? nullptr : owner->metadata.data();
  out->flags = field.flags;
  out->n_children = static_cast<int64_t>(owner->children.size());
  out->children = owner->pointers.empty() ? nullptr : owner->pointers.data();
  out->dictionary = field.dictionary ? &owner->dictionary : nullptr;
  out->release = &release_schema;
  out->private_data = owner.release();
  ++live_fields;
}

void append_int32(std::string& bytes, size_t value) {
  const auto narrow = static_cast<int32_t>(value);
  char raw[sizeof narrow];
  std::memcpy(raw, &narrow, sizeof narrow);
  bytes.append(raw, sizeof narrow);
}

Field nest(std::string format, std::vector<Field> children) {
  Field made = field(std::move(format));
  made.children = std::move(children);
  return made;
}

Field or_named(Field given, const char* name) { return given.name.empty() ? given.named(name) : given; }

}  // namespace

Field Field::named(std::string new_name) const {
  Field made = *this;
  made.name = std::move(new_name);
  return made;
}

Field Field::not_null() const {
  Field made = *this;
  made.flags &= ~int64_t{ARROW_FLAG_NULLABLE};
  return made;
}

Field Field::with_flags(int64_t more) const {
  Field made = *this;
  made.flags |= more;
  return made;
}

Field Field::with_metadata(std::string key, std::string value) const {
  Field made = *this;
  made.metadata.emplace_back(std::move(key), std::move(value));
  return made;
}

Field Field::with_dictionary(Field values) const {
  Field made = *this;
  made.dictionary = std::make_shared<const Field>(std::move(values));
  return made;
}

Field Field::extension(std::string extension_name, std::string extension_metadata) const {
  return with_metadata("ARROW:extension:name", std::move(extension_name))
      .with_metadata("ARROW:extension:metadata", std::move(extension_metadata));
}

Field field(std::string format, std::string name) {
  Field made;
  made.format = std::move(format);
  made.name = std::move(name);
  return made;
}

Field list_of(Field item) { return nest("+l", {or_named(std::move(item), "item")}); }
Field large_list_of(Field item) { return nest("+L", {or_named(std::move(item), "item")}); }
Field list_view_of(Field item) { return nest("+vl", {or_named(std::move(item), "item")}); }
Field large_list_view_of(Field item) { return nest("+vL", {or_named(std::move(item), "item")}); }

Field fixed_size_list_of(int64_t size, Field item) {
  return nest("+w:" + std::to_string(size), {or_named(std::move(item), "item")});
}

Field struct_of(std::vector<Field> children) {
  for (size_t i = 0; i < children.size(); ++i) {
    if (children[i].name.empty()) children[i].name = "f" + std::to_string(i);
  }
  return nest("+s", std::move(children));
}

Field map_of(Field key, Field value) {
  Field entries = struct_of({or_named(std::move(key), "key").not_null(), or_named(std::move(value), "value")});
  return nest("+m", {entries.named("entries").not_null()});
}

Field dense_union_of(std::string type_ids, std::vector<Field> children) {
  Field made = struct_of(std::move(children));
  made.format = "+ud:" + type_ids;
  return made;
}

Field sparse_union_of(std::string type_ids, std::vector<Field> children) {
  Field made = struct_of(std::move(children));
  made.format = "+us:" + type_ids;
  return made;
}

Field run_end_encoded(std::string run_end_format, Field values) {
  return nest("+r", {field(std::move(run_end_format), "run_ends").not_null(), or_named(std::move(values), "values")});
}

Field dictionary_of(std::string index_format, Field values) {
  return field(std::move(index_format)).with_dictionary(std::move(values));
}

Owned<ArrowSchema> make_schema(const Field& field) {
  Owned<ArrowSchema> schema;
  fill_schema(field, schema.out());
  return schema;
}

std::string encode_metadata(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string bytes;
  append_int32(bytes, pairs.size());
  for (const auto& [key, value] : pairs) {
    append_int32(bytes, key.size());
    bytes += key;
    append_int32(bytes, value.size());
    bytes += value;
  }
  return bytes;
}

std::string metadata_bytes(const char* encoded) {
  if (encoded == nullptr) return {};
  const char* at = encoded;
  const auto number = [&] {
    int32_t read;
    std::memcpy(&read, at, sizeof read);
    at += sizeof read;
    return read;
  };
  const int32_t pairs = number();
  for (int32_t i = 0; i < 2 * pairs; ++i) {
    const int32_t length = number();
    at += length;
  }
  return {encoded, at};
}

int64_t live_schema_fields() noexcept { return live_fields.load(); }

}  // namespace arrowdevice::testing
