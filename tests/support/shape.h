// SPDX-License-Identifier: Apache-2.0
// Parses format strings for the generator and the reader of tests. This code does not share the library's
// parser, so that a mistake there does not hide behind the same mistake here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arrowdevice::testing {

enum class Kind {
  kNull,
  kFixed,   // `bits` per slot
  kBinary,  // offsets of `width` bytes
  kView,
  kList,           // also maps; offsets of `width` bytes
  kListView,       // offsets and sizes of `width` bytes
  kFixedSizeList,  // `list_size` items per slot
  kStruct,
  kSparseUnion,
  kDenseUnion,
  kRunEndEncoded,
};

struct Shape {
  Kind kind = Kind::kNull;
  int64_t bits = 0;
  int width = 0;
  int64_t list_size = 0;
  bool is_map = false;
  bool is_utf8 = false;
  std::vector<int> type_ids;  // type ids of the children of a union, by position

  bool is_union() const noexcept { return kind == Kind::kSparseUnion || kind == Kind::kDenseUnion; }
  // Returns true if the first buffer is a validity bitmap.
  bool has_validity() const noexcept { return kind != Kind::kNull && kind != Kind::kRunEndEncoded && !is_union(); }
  // Returns how many buffers an array has, without the variadic buffers of views.
  int64_t n_buffers() const noexcept;
};

// Throws std::invalid_argument if the columnar format does not define the format string.
Shape shape_of(std::string_view format);

}  // namespace arrowdevice::testing
