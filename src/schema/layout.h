// SPDX-License-Identifier: Apache-2.0
// The layouts of the columnar format as data: which buffers an array of each layout has, how large they are, and which
// slots of the children its slots need. Knows no device. Everything outside this folder asks here instead of switching
// over types.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstdint>
#include <span>

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

// What one buffer holds, and so how many bytes `slots` slots of it take.
enum class BufferShape {
  kValidity,       // one bit a slot; NULL: no nulls
  kValues,         // the type's bit_width a slot (1 for booleans, 0 for `w:0`)
  kOffsets,        // slots + 1 entries of offset_bytes each
  kSlotOffsets,    // slots entries of offset_bytes each: list views, dense unions
  kSlotSizes,      // slots entries of offset_bytes each: list views
  kTypeIds,        // one byte a slot
  kViews,          // 16 bytes a slot
  kBytes,          // as many bytes as the last offset says
  kVariadic,       // any number of buffers, as large as the last buffer says
  kVariadicSizes,  // an int64 for each variadic buffer
};

// What the slots [o, o + n) of an array refer to: which slots of its children, or bytes of its data. `o` includes the
// array's own offset; a child's own offset is always added on top.
enum class Refers {
  kNowhere,      // values stand in the slots themselves
  kSame,         // children: [o, o + n)
  kTimes,        // child: [o * list_size, (o + n) * list_size)
  kOffsets,      // child or bytes: [O[o], O[o + n])
  kListViews,    // child: from the least O to the greatest O + S over the slots that are not empty
  kTypeIds,      // each child: from the least to the greatest of the offsets with its type id
  kBinaryViews,  // variadic buffers: the bytes that the views name
  kRunEnds,      // the runs that cover them, of run ends and values alike
};

struct LayoutInfo {
  static constexpr int kAnyNumber = -1;

  const char* name;                      // "list view"
  std::span<const BufferShape> buffers;  // in order; kVariadic stands for any number
  Refers refers;
  int offset_bytes;        // width of offsets and sizes: 0 without, 4 or 8
  bool has_validity;       // whether the first buffer is a validity bitmap
  int64_t legacy_buffers;  // another number of buffers that old producers give, -1: none.
                           // Where it is one more, the first is a validity bitmap to be ignored
  int n_children;          // kAnyNumber: structs; unions, whose format names them
};

const LayoutInfo& layout_info(Layout layout) noexcept;

// ARROWDEVICE_ROLE_* of a buffer.
uint32_t buffer_role(BufferShape shape) noexcept;

// "validity", "offsets", ... for messages.
const char* buffer_name(BufferShape shape) noexcept;

// The type of one field, as its format string says.
struct Type {
  Layout layout = Layout::kNull;
  int64_t bit_width = 0;    // of kValues: bits a slot; else 0
  int64_t list_size = 0;    // of fixed-size lists; else 0
  int32_t union_map = -1;   // of unions: which of Tree's union maps; else -1
  bool is_map = false;      // a list with the constraints of a map
  bool is_index = false;    // an integer type that may index a dictionary
  bool is_run_end = false;  // an integer type that may be a run end

  const LayoutInfo& info() const noexcept { return layout_info(layout); }
};

// Bytes of `slots` slots of a buffer from its start, for the shapes whose size follows from the number of slots alone;
// -1 for kBytes, kVariadic and kVariadicSizes. Throws EINVAL where that overflows.
int64_t buffer_bytes(const Type& type, BufferShape shape, int64_t slots);

}  // namespace arrowdevice::schema
