// SPDX-License-Identifier: Apache-2.0
// The plan of a copy: the slots and bytes of each field that are copied, and the changes to its offsets.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "schema/binding.h"
#include "transfer/extents.h"
#include "transfer/index_reader.h"
#include "transfer/source_reader.h"

namespace arrowdevice::transfer {

// How the copy is trimmed.
struct TrimMode {
  bool whole;           // COPY_NO_TRIM: the copy trims and rebases nothing
  bool bits_can_shift;  // the CPU can access the source or the target; else bitmaps start at a byte boundary
  bool target_on_host;  // offsets can be rebased after they have arrived
};

// A field of the copy. The struct is small because tables have thousands of fields.
struct Node {
  bool is_known = false;
  bool is_all = false;  // the rows are all rows of the source, so the source's properties hold for the copy

  // True if the CPU writes the offsets or views, false if they are copied.
  bool is_rebased = false;

  // Index in Plan::references, or -1 if the referenced slots do not depend on data.
  int32_t references = -1;

  // The slots of the source's buffers that are copied.
  Slots slots;

  // The copy's own offset and length. The slots before the offset are copied for this field's alignment. The length
  // includes slots that are copied for a parent's alignment.
  int64_t offset = 0;
  int64_t length = 0;
};

// The slots that a field's slots refer to, or that its parent refers to.
struct References {
  // The value that is subtracted from each offset of lists, list views and binaries.
  int64_t base = 0;
  // For a child of a dense union: the slots that the union's offsets refer to.
  Extent in_union;
  // For binaries: the bytes that are copied.
  Extent bytes;
  // For binary views: index of the first buffer in Plan::variadic.
  int64_t variadic = 0;
  // For run ends: the logical slots of the parent that remain, and the first of their runs. If `run_ends` is NULL, the
  // run ends do not change.
  Extent runs_of;
  const uint8_t* run_ends = nullptr;

  // The index buffers on the CPU, if they have been read.
  Index index;
};

struct VariadicBuffer {
  int64_t size;   // size of the source's buffer
  Extent needed;  // the bytes of the buffer that are copied
};

struct Plan {
  explicit Plan(std::pmr::memory_resource* memory) : nodes(memory), references(memory), variadic(memory) {}

  std::pmr::vector<Node> nodes;             // in the order of the schema's fields
  std::pmr::vector<References> references;  // only for fields with data-dependent references
  std::pmr::vector<VariadicBuffer> variadic;

  Node& operator[](int32_t field) noexcept { return nodes[static_cast<size_t>(field)]; }
  const Node& operator[](int32_t field) const noexcept { return nodes[static_cast<size_t>(field)]; }

  bool has_references(int32_t field) const noexcept { return (*this)[field].references >= 0; }
  References& refs(int32_t field) noexcept { return references[static_cast<size_t>((*this)[field].references)]; }
  const References& refs(int32_t field) const noexcept {
    return references[static_cast<size_t>((*this)[field].references)];
  }
};

// Makes the plan: steps 1 and 2 of a copy. If the source is on a device, sizes and ranges are read back. An untrimmed
// copy needs one batch for the whole tree. A trimmed copy needs at most one batch per level if inner positions depend
// on outer offsets. Throws EINVAL, with the path of the child, if the data refers to slots or bytes that do not exist.
// `sizes_on_host` is true if the sizes of variadic buffers are in host memory.
Plan make_plan(const schema::Binding& array, const TrimMode& cut, SourceReader& contents, bool sizes_on_host,
               std::pmr::memory_resource* memory);

}  // namespace arrowdevice::transfer
