// SPDX-License-Identifier: Apache-2.0
// Which slots of a child, or bytes of a buffer, some slots of an array refer to: pure functions over host memory. They
// read hostile data without leaving the memory they are given, and throw Error(EINVAL) without a path for data that
// refers to what is not there.
#pragma once

#include <cstdint>
#include <span>

#include "schema/tree.h"

namespace arrowdevice::transfer {

struct Extent {
  int64_t first = 0;
  int64_t count = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

// One slot of a binary view.
struct BinaryView {
  int32_t size;
  uint8_t rest[12];  // the bytes themselves, or: 4 of them, the buffer's index, the offset in it

  static constexpr int32_t kMostInline = 12;
  bool is_inline() const noexcept { return size <= kMostInline; }
};
static_assert(sizeof(BinaryView) == 16);

// What a long view refers to.
struct ViewTarget {
  int32_t buffer;
  int32_t offset;
};
ViewTarget view_target(const BinaryView& view) noexcept;
void set_view_offset(BinaryView& view, int32_t offset) noexcept;

// The entry of an offsets or sizes buffer with entries of `width` 4 or 8 bytes; memory need not be aligned.
int64_t load_index(const uint8_t* entries, int64_t position, int width) noexcept;
void store_index(uint8_t* entries, int64_t position, int width, int64_t value) noexcept;

// What the slots of a bitmap (NULL: all valid) that starts `bit` bits into `validity` say.
struct Validity {
  const uint8_t* bits = nullptr;
  int64_t bit = 0;

  bool is_valid(int64_t slot) const noexcept;
};

// Of lists and binaries: from `begin` to `end` of a child with `length` slots (negative: not known).
Extent offsets_extent(int64_t begin, int64_t end, int64_t length);

// Of list views: from the least to the greatest position over the slots that are valid and not empty.
Extent list_view_extent(const uint8_t* offsets, const uint8_t* sizes, int width, int64_t slots, Validity validity,
                        int64_t child_length);

// Of dense unions: for each child (position i of `extents`) the extent of its slots. The first `lead` slots may hold
// anything: they count where they refer to what is there.
void dense_union_extents(const uint8_t* type_ids, const uint8_t* offsets, int64_t slots, int64_t lead,
                         const schema::UnionMap& children, std::span<const int64_t> child_lengths,
                         std::span<Extent> extents);

// The child that a type id of a dense union stands for; -1: none.
int8_t union_child(uint8_t type_id, const schema::UnionMap& children) noexcept;

// Of run-end encoded arrays: the runs that cover the logical slots [first, first + count).
Extent runs_extent(const uint8_t* run_ends, int width, int64_t runs, int64_t first, int64_t count);

// Of binary views: for each variadic buffer the bytes that the valid slots refer to.
void binary_view_extents(const uint8_t* views, int64_t slots, Validity validity, std::span<const int64_t> buffer_sizes,
                         std::span<Extent> extents);

}  // namespace arrowdevice::transfer
