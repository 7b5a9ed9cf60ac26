// SPDX-License-Identifier: Apache-2.0
// Describes the type of an array as a value that a test can write, and makes the ArrowSchema.
//
//   Field prices = struct_of({field("i", "id"), list_of(field("u", "item")).named("tags")});
//   Owned<ArrowSchema> schema = make_schema(prices);
//
// Every field is nullable unless not_null() is called. No function validates the type, because a test may
// write an invalid type.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/owned.h"

namespace arrowdevice::testing {

struct Field {
  std::string format;
  std::string name;  // empty means NULL in the schema
  int64_t flags = ARROW_FLAG_NULLABLE;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<Field> children;
  std::shared_ptr<const Field> dictionary;

  Field named(std::string new_name) const;
  Field not_null() const;
  Field with_flags(int64_t more) const;
  Field with_metadata(std::string key, std::string value) const;
  Field with_dictionary(Field values) const;  // this field gives the indices
  Field extension(std::string extension_name, std::string extension_metadata) const;
  bool nullable() const noexcept { return (flags & ARROW_FLAG_NULLABLE) != 0; }
};

Field field(std::string format, std::string name = {});
Field list_of(Field item);
Field large_list_of(Field item);
Field list_view_of(Field item);
Field large_list_view_of(Field item);
Field fixed_size_list_of(int64_t size, Field item);
Field struct_of(std::vector<Field> children);
Field map_of(Field key, Field value);                                     // entries and keys are not nullable
Field dense_union_of(std::string type_ids, std::vector<Field> children);  // "5,9"
Field sparse_union_of(std::string type_ids, std::vector<Field> children);
Field run_end_encoded(std::string run_end_format, Field values);  // "s", "i" or "l"
Field dictionary_of(std::string index_format, Field values);

// Makes a schema in which every field has its own release callback.
Owned<ArrowSchema> make_schema(const Field& field);

// Encodes metadata as the C data interface does.
std::string encode_metadata(const std::vector<std::pair<std::string, std::string>>& pairs);

// Returns the bytes of encoded metadata, or an empty text for NULL.
std::string metadata_bytes(const char* encoded);

// Returns how many fields of all schemas made here are alive.
int64_t live_schema_fields() noexcept;

}  // namespace arrowdevice::testing
