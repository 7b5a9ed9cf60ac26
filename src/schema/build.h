// SPDX-License-Identifier: Apache-2.0
// Builds schemas that own their texts, their children and their dictionary.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace arrowdevice::schema {

// Owns a schema, or none. Releases the schema unless it is taken.
class UniqueSchema {
 public:
  UniqueSchema() = default;
  explicit UniqueSchema(const ArrowSchema& moved) noexcept : schema_(moved) {}
  UniqueSchema(UniqueSchema&& other) noexcept : schema_(other.take()) {}
  UniqueSchema& operator=(UniqueSchema&& other) noexcept {
    std::swap(schema_, other.schema_);
    return *this;
  }
  ~UniqueSchema() {
    if (schema_.release != nullptr) schema_.release(&schema_);
  }

  const ArrowSchema& get() const noexcept { return schema_; }
  explicit operator bool() const noexcept { return schema_.release != nullptr; }
  ArrowSchema take() noexcept { return std::exchange(schema_, ArrowSchema{}); }

 private:
  ArrowSchema schema_{};
};

// The texts of a schema. An absent text is NULL in the struct.
struct SchemaTexts {
  std::string format;
  std::optional<std::string> name;
  std::optional<std::string> metadata;  // encoded as in schema/metadata.h
};

// Makes a schema, in which each child has its own release. `dictionary` may be empty.
UniqueSchema make_schema(SchemaTexts texts, int64_t flags, std::vector<UniqueSchema> children, UniqueSchema dictionary);

}  // namespace arrowdevice::schema
