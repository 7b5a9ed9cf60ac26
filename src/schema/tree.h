// SPDX-License-Identifier: Apache-2.0
// A schema, read once into a flat tree. Hostile ones are refused with the path of the field that is wrong.
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
inline constexpr int64_t kMostNodes = 1 << 20;  // fields in all, dictionaries included
// Fields in all, if most of them are structs that stand in several places. A few structs that name each other in pairs
// make 2^20 fields, which cost half a second in every call; to write as many structs costs their author more.
inline constexpr int64_t kMostSharedNodes = 1 << 15;
inline constexpr size_t kLongestPath = 320;  // bytes; leaves room in an error for what is wrong there

struct Field {
  const ArrowSchema* source;  // borrowed: texts are read from there
  Type type;
  int32_t parent;       // -1 at the root
  int32_t first_child;  // children lie side by side in the tree; within it or its end also when there are none
  int32_t n_children;
  int32_t dictionary;  // -1 without
  bool is_dictionary;  // stands in its parent's `dictionary`
  // A column of fixed width in a struct, without a dictionary, as most fields are: nothing is below it, and no data
  // says which of its slots are needed.
  bool is_plain = false;
};

// For each type id 0 .. 127 of a union the position of its child, -1 where there is none.
using UnionMap = std::array<int8_t, 128>;

// The fields of a schema, breadth first: 0 is the root, the children of a field lie side by side. Borrows the
// ArrowSchema that it was read from.
class Tree {
 public:
  // Throws Error: EINVAL for what is malformed (released or NULL children, a depth above kDeepest, more than kMostNodes
  // fields, a child that is its own ancestor, wrong numbers of children, a dictionary on what is no index type, ...),
  // ENOTSUP for a format string that is well-formed but names no known type. The message begins with the path.
  explicit Tree(const ArrowSchema& root, std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  std::span<const Field> fields() const noexcept { return fields_; }
  const Field& operator[](int32_t field) const noexcept { return fields_[static_cast<size_t>(field)]; }
  int32_t size() const noexcept { return static_cast<int32_t>(fields_.size()); }
  const UnionMap& union_map(const Field& field) const noexcept {
    return union_maps_[static_cast<size_t>(field.type.union_map)];
  }

  // "batch.prices.item": the names from the root. A root without a name is "batch" if it is a struct, else "array"; a
  // child without one is "[2]"; a dictionary is "dictionary". For messages, so of a path longer than kLongestPath bytes
  // the middle is "...".
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
  int64_t next_look_at_sharing_ = kMostSharedNodes + 1;  // at so many fields
};

}  // namespace arrowdevice::schema
