// SPDX-License-Identifier: Apache-2.0
// A schema, read once into a flat tree. Hostile schemas are refused with the path of the wrong field.
#pragma once

#include <arrowdevice/abi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "schema/layout.h"

namespace arrowdevice::schema {

inline constexpr int kDeepest = 64;             // levels of nesting, the root included
inline constexpr int64_t kMostNodes = 1 << 20;  // number of fields, dictionaries included
// Limit of fields if most are structs that occur in several positions. A few structs that refer to each other in pairs
// can make 2^20 fields, which cost half a second in every call. Without such structs, an attacker must write all
// fields, which costs more.
inline constexpr int64_t kMostSharedNodes = 1 << 17;
inline constexpr size_t kLongestPath = 320;  // bytes; leaves space in an error for the reason

struct Field {
  const ArrowSchema* source;  // borrowed; the texts are read from it
  Type type;
  int32_t parent;       // -1 for the root
  int32_t first_child;  // the others follow; a position in the tree or its end, even without children
  int32_t n_children;
  int32_t dictionary;  // -1 if none
  bool is_dictionary;  // the field is its parent's `dictionary`
  // True for a column of fixed width in a struct, without a dictionary. Most fields are plain. A plain field has no
  // descendants, and no data determines which of its slots are needed.
  bool is_plain = false;
};

// The position of the child for each type id 0 .. 127 of a union, or -1 if there is none.
using UnionMap = std::array<int8_t, 128>;

// The fields of a schema, breadth first: 0 is the root, and the children of a field are side by side. Borrows the
// ArrowSchema that was read.
class Tree {
 public:
  // Reads a schema. The message of an error begins with the path. Throws EINVAL for a malformed schema. Examples are
  // released or NULL children, a depth above kDeepest, more than kMostNodes fields, and a child that is its own
  // ancestor. Others are wrong numbers of children, and a dictionary on a type that is not an index. Throws ENOTSUP for
  // a well-formed format string that names no known type.
  explicit Tree(const ArrowSchema& root, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  std::span<const Field> fields() const noexcept { return fields_; }
  const Field& operator[](int32_t field) const noexcept { return fields_[static_cast<size_t>(field)]; }
  int32_t size() const noexcept { return static_cast<int32_t>(fields_.size()); }
  const UnionMap& union_map(const Field& field) const noexcept {
    return union_maps_[static_cast<size_t>(field.type.union_map)];
  }

  // Returns the names from the root for messages: "batch.prices.item". A root without a name is "batch" if it is a
  // struct, else "array". A child without a name is "[2]"; a dictionary is "dictionary". If the path is longer than
  // kLongestPath bytes, "..." replaces its middle.
  std::string path(int32_t field) const;

 private:
  int64_t read_format(int32_t field);
  void check_type(int32_t field, int64_t n_children) const;
  void check_place(int32_t field) const;
  void add_children(int32_t field, int depth);
  void check_sharing(int32_t field);
  void add(const ArrowSchema* source, int32_t parent, bool is_dictionary,
           std::span<const ArrowSchema* const> ancestors);
  bool add_plain(const ArrowSchema* source, int32_t parent);
  [[noreturn, gnu::cold]] void refuse(int32_t field, int code, const std::string& reason) const;

  std::pmr::vector<Field> fields_;
  std::pmr::vector<UnionMap> union_maps_;
  int64_t next_look_at_sharing_ = kMostSharedNodes + 1;  // number of fields at the next check
};

// Replaces the middle of a path that is longer than kLongestPath bytes by "...".
std::string shorten_path(std::string path);

}  // namespace arrowdevice::schema
