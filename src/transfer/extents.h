// SPDX-License-Identifier: Apache-2.0
// Computes the slots of a child, or the bytes of a buffer, that some slots of an array refer to. The functions are pure
// and work on host memory. They never read outside the given memory, even for hostile data. If the data refers to slots
// or bytes that do not exist, they throw Error(EINVAL) without a path.
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

// A slot of a binary view.
struct BinaryView {
  int32_t size;
  uint8_t rest[12];  // the bytes themselves, or: 4 of the bytes, the index of the buffer, the offset in the buffer

  static constexpr int32_t kMostInline = 12;
  bool is_inline() const noexcept { return size <= kMostInline; }
};
static_assert(sizeof(BinaryView) == 16);

// The bytes that a long view refers to.
struct ViewTarget {
  int32_t buffer;
  int32_t offset;
};
ViewTarget view_target(const BinaryView& view) noexcept;
void set_view_offset(BinaryView& view, int32_t offset) noexcept;

// Loads or stores an entry of an offsets or sizes buffer with entries of `width` 4 or 8 bytes. Memory need not be
// aligned.
int64_t load_index(const uint8_t* entries, int64_t position, int width) noexcept;
void store_index(uint8_t* entries, int64_t position, int width, int64_t value) noexcept;

// The validity bitmap of some slots, which begins at bit `bit` of `bits`. If `bits` is NULL, all slots are valid.
struct Validity {
  const uint8_t* bits = nullptr;
  int64_t bit = 0;

  bool is_valid(int64_t slot) const noexcept;
};

// Returns the extent of lists and binaries: from `begin` to `end` of a child with `length` slots. A negative `length`
// is unknown.
Extent offsets_extent(int64_t begin, int64_t end, int64_t length);

// Returns the extent of list views: from the least to the greatest position over the slots that are valid and not
// empty.
Extent list_view_extent(const uint8_t* offsets, const uint8_t* sizes, int width, int64_t slots, Validity validity,
                        int64_t child_length);

// Computes the extents of a dense union's children: `extents[i]` for child i. The first `lead` slots may hold any
// values. They count only if they refer to slots that exist.
void dense_union_extents(const uint8_t* type_ids, const uint8_t* offsets, int64_t slots, int64_t lead,
                         const schema::UnionMap& children, std::span<const int64_t> child_lengths,
                         std::span<Extent> extents);

// Returns the child for a type id of a dense union, or -1 if there is none.
int8_t union_child(uint8_t type_id, const schema::UnionMap& children) noexcept;

// Returns the extent of runs that cover the logical slots [first, first + count) of a run-end encoded array.
Extent runs_extent(const uint8_t* run_ends, int width, int64_t runs, int64_t first, int64_t count);

// Computes the bytes that the valid slots of a binary view refer to, for each variadic buffer.
void binary_view_extents(const uint8_t* views, int64_t slots, Validity validity, std::span<const int64_t> buffer_sizes,
                         std::span<Extent> extents);

}  // namespace arrowdevice::transfer
