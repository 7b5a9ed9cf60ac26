// SPDX-License-Identifier: Apache-2.0
// The layouts of the columnar format as data: the buffers of each layout, their sizes, and the child slots that its
// slots refer to. This file knows no device. Code outside this folder uses these tables and does not switch over types.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/checked.h"

namespace arrowdevice::schema {

enum class Layout : int32_t {
  kNull = ARROWDEVICE_LAYOUT_NULL,
  kFixed = ARROWDEVICE_LAYOUT_FIXED,
  kBinary = ARROWDEVICE_LAYOUT_BINARY,
  kLargeBinary = ARROWDEVICE_LAYOUT_LARGE_BINARY,
  kBinaryView = ARROWDEVICE_LAYOUT_BINARY_VIEW,
  kList = ARROWDEVICE_LAYOUT_LIST,
  kLargeList = ARROWDEVICE_LAYOUT_LARGE_LIST,
  kListView = ARROWDEVICE_LAYOUT_LIST_VIEW,
  kLargeListView = ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW,
  kFixedSizeList = ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST,
  kStruct = ARROWDEVICE_LAYOUT_STRUCT,
  kSparseUnion = ARROWDEVICE_LAYOUT_SPARSE_UNION,
  kDenseUnion = ARROWDEVICE_LAYOUT_DENSE_UNION,
  kRunEndEncoded = ARROWDEVICE_LAYOUT_RUN_END_ENCODED,
};

// The content of a buffer, which determines how many bytes its slots need.
enum class BufferShape {
  kValidity,       // one bit per slot; NULL: no nulls
  kValues,         // the type's bit_width per slot (1 for booleans, 0 for `w:0`)
  kOffsets,        // slots + 1 entries of offset_bytes each
  kSlotOffsets,    // slots entries of offset_bytes each: list views, dense unions
  kSlotSizes,      // slots entries of offset_bytes each: list views
  kTypeIds,        // one byte per slot
  kViews,          // 16 bytes per slot
  kBytes,          // the last offset is the number of bytes
  kVariadic,       // any number of buffers, with the sizes in the last buffer
  kVariadicSizes,  // an int64 for each variadic buffer
};

// The slots of children, or bytes of data, that the slots [o, o + n) of an array refer to. `o` includes the array's own
// offset. A child's own offset is always added.
enum class ReferenceKind {
  kNone,         // the slots themselves hold the values
  kIdentity,     // children: [o, o + n)
  kScaled,       // child: [o * list_size, (o + n) * list_size)
  kOffsets,      // child or bytes: [O[o], O[o + n])
  kListViews,    // child: from the least O to the greatest O + S over the slots that are not empty
  kTypeIds,      // each child: from the least to the greatest of the offsets with its type id
  kBinaryViews,  // variadic buffers: the bytes that the views refer to
  kRunEnds,      // the runs that cover the slots, for run ends and values
};

struct ShapeInfo {
  uint32_t role;     // ARROWDEVICE_ROLE_*
  const char* name;  // for messages
};

struct LayoutInfo {
  static constexpr int kAnyNumber = -1;

  const char* name;                      // "list view"
  std::span<const BufferShape> buffers;  // in order; kVariadic stands for any number of buffers
  ReferenceKind refers;
  int offset_bytes;        // width of offsets and sizes: 0 (no offsets), 4 or 8
  bool has_validity;       // the first buffer is a validity bitmap
  int64_t legacy_buffers;  // another number of buffers that old producers give, or -1.
                           // If it is one more, the first buffer is an unused validity bitmap
  int n_children;          // kAnyNumber: structs; unions, whose format names them
  bool is_variadic = std::ranges::find(buffers, BufferShape::kVariadic) != buffers.end();
  // Number of buffers that always exist, including the sizes of variadic buffers.
  int64_t fixed_buffers = static_cast<int64_t>(buffers.size()) - (is_variadic ? 1 : 0);
};

namespace table {

using enum BufferShape;

inline constexpr BufferShape kFixed[] = {kValidity, kValues};
inline constexpr BufferShape kBinary[] = {kValidity, kOffsets, kBytes};
inline constexpr BufferShape kBinaryView[] = {kValidity, kViews, kVariadic, kVariadicSizes};
inline constexpr BufferShape kList[] = {kValidity, kOffsets};
inline constexpr BufferShape kListView[] = {kValidity, kSlotOffsets, kSlotSizes};
inline constexpr BufferShape kValidityAlone[] = {kValidity};
inline constexpr BufferShape kSparseUnion[] = {kTypeIds};
inline constexpr BufferShape kDenseUnion[] = {kTypeIds, kSlotOffsets};

inline constexpr int kAny = LayoutInfo::kAnyNumber;

// In the order of BufferShape.
inline constexpr std::array<ShapeInfo, 10> kShapes = {{
    {ARROWDEVICE_ROLE_VALIDITY, "validity"},
    {ARROWDEVICE_ROLE_DATA, "data"},
    {ARROWDEVICE_ROLE_OFFSETS, "offsets"},
    {ARROWDEVICE_ROLE_OFFSETS, "offsets"},
    {ARROWDEVICE_ROLE_SIZES, "sizes"},
    {ARROWDEVICE_ROLE_TYPE_IDS, "type ids"},
    {ARROWDEVICE_ROLE_VIEWS, "views"},
    {ARROWDEVICE_ROLE_DATA, "data"},
    {ARROWDEVICE_ROLE_VARIADIC, "variadic"},
    {ARROWDEVICE_ROLE_VARIADIC_SIZES, "variadic sizes"},
}};

// In the order of Layout. The columns: name, buffers, reference kind, bytes of an offset, validity, legacy buffers,
// children.
inline constexpr std::array<LayoutInfo, 14> kLayouts = {{
    {"null", {}, ReferenceKind::kNone, 0, false, 1, 0},
    {"fixed-width", kFixed, ReferenceKind::kNone, 0, true, -1, 0},
    {"binary", kBinary, ReferenceKind::kOffsets, 4, true, -1, 0},
    {"large binary", kBinary, ReferenceKind::kOffsets, 8, true, -1, 0},
    {"binary view", kBinaryView, ReferenceKind::kBinaryViews, 0, true, -1, 0},
    {"list", kList, ReferenceKind::kOffsets, 4, true, -1, 1},
    {"large list", kList, ReferenceKind::kOffsets, 8, true, -1, 1},
    {"list view", kListView, ReferenceKind::kListViews, 4, true, -1, 1},
    {"large list view", kListView, ReferenceKind::kListViews, 8, true, -1, 1},
    {"fixed-size list", kValidityAlone, ReferenceKind::kScaled, 0, true, -1, 1},
    {"struct", kValidityAlone, ReferenceKind::kIdentity, 0, true, -1, kAny},
    {"sparse union", kSparseUnion, ReferenceKind::kIdentity, 0, false, 2, kAny},
    {"dense union", kDenseUnion, ReferenceKind::kTypeIds, 4, false, 3, kAny},
    {"run-end encoded", {}, ReferenceKind::kRunEnds, 0, false, -1, 2},
}};

}  // namespace table

inline const LayoutInfo& layout_info(Layout layout) noexcept {
  const auto index = static_cast<size_t>(layout);
  assert(index < table::kLayouts.size());
  return table::kLayouts[index];
}

inline const ShapeInfo& shape_info(BufferShape shape) noexcept {
  const auto index = static_cast<size_t>(shape);
  assert(index < table::kShapes.size());
  return table::kShapes[index];
}

// Returns the ARROWDEVICE_ROLE_* of a buffer.
inline uint32_t buffer_role(BufferShape shape) noexcept { return shape_info(shape).role; }

// Returns "validity", "offsets", ... for messages.
inline const char* buffer_name(BufferShape shape) noexcept { return shape_info(shape).name; }

// The bits of a buffer cannot overflow if the offset, the length and the width of a value are within these limits.
inline constexpr uint64_t kMostPlainSlots = uint64_t{1} << 40;
inline constexpr int64_t kWidestPlainBits = int64_t{1} << 21;

// The type of a field, from its format string.
struct Type {
  Layout layout = Layout::kNull;
  int64_t bit_width = 0;    // for kValues: bits per slot; else 0
  int64_t list_size = 0;    // for fixed-size lists; else 0
  int32_t union_map = -1;   // for unions: index of a union map in Tree; else -1
  bool is_map = false;      // a list with the constraints of a map
  bool is_index = false;    // an integer type that may index a dictionary
  bool is_run_end = false;  // an integer type that may be a run end

  const LayoutInfo& info() const noexcept { return layout_info(layout); }
};

// Returns the bytes of `slots` slots of a buffer from its start, if the size follows from the number of slots. Returns
// -1 for kBytes, kVariadic and kVariadicSizes. Throws EINVAL if the size overflows or `slots` is negative.
inline int64_t buffer_bytes(const Type& type, BufferShape shape, int64_t slots) {
  if (slots < 0) refuse_size("a number of slots is negative");
  switch (shape) {
    case BufferShape::kValidity: return bytes_for_bits(slots);
    case BufferShape::kValues:
      // Multiplies whole bytes if possible, because the size may fit 64 bits when the number of bits does not.
      return type.bit_width % 8 == 0 ? checked_mul(slots, type.bit_width / 8)
                                     : bytes_for_bits(checked_mul(slots, type.bit_width));
    case BufferShape::kOffsets: return checked_mul(checked_add(slots, 1), type.info().offset_bytes);
    case BufferShape::kSlotOffsets:
    case BufferShape::kSlotSizes: return checked_mul(slots, type.info().offset_bytes);
    case BufferShape::kTypeIds: return slots;
    case BufferShape::kViews: return checked_mul(slots, 16);
    case BufferShape::kBytes:
    case BufferShape::kVariadic:
    case BufferShape::kVariadicSizes: break;
  }
  return -1;
}

}  // namespace arrowdevice::schema
