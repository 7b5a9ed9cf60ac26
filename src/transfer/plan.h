// SPDX-License-Identifier: Apache-2.0
// What a copy needs of each field of an array: which slots, which bytes, and what becomes of its offsets.
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

// How the copy is to be cut.
struct TrimMode {
  bool whole;           // COPY_WHOLE: nothing is trimmed or moved
  bool bits_can_shift;  // the CPU reaches the source or the target; else bitmaps start at a byte boundary
  bool target_on_host;  // offsets can be rebased after they have arrived
};

// One field of the copy. Small, since tables have thousands.
struct Node {
  bool is_known = false;
  bool is_all = false;  // its rows are all of the source's: what is known of them holds for the copy

  // Whether its offsets or views are made by the CPU rather than copied.
  bool is_rebased = false;

  // Its place in Plan::references; -1 where what its slots refer to does not depend on data.
  int32_t references = -1;

  // What is copied of the source's buffers.
  Slots slots;

  // The copy's own offset and length. What lies before the offset came along for this field's alignment; slots that
  // came along for a parent's are part of the length.
  int64_t offset = 0;
  int64_t length = 0;
};

// What the slots of a field refer to, or what those of its parent say of it.
struct References {
  // Offsets of lists, list views and binaries: what is subtracted from each.
  int64_t base = 0;
  // Of a child of a dense union: the slots that the union's offsets refer to.
  Extent in_union;
  // Of binaries: the bytes that are copied.
  Extent bytes;
  // Of binary views: where in Plan::variadic its buffers begin.
  int64_t variadic = 0;
  // Of run ends: the logical slots of the parent that remain, and the first of their runs. NULL: run ends stay as they
  // are.
  Extent runs_of;
  const uint8_t* run_ends = nullptr;

  // Its index buffers as the CPU sees them, as far as anybody had to look.
  Index index;
};

struct VariadicBuffer {
  int64_t size;   // of the source's buffer
  Extent needed;  // bytes of it that are copied
};

struct Plan {
  explicit Plan(std::pmr::memory_resource* memory) : nodes(memory), references(memory), variadic(memory) {}

  std::pmr::vector<Node> nodes;             // in the order of the schema's fields
  std::pmr::vector<References> references;  // of the fields that have them
  std::pmr::vector<VariadicBuffer> variadic;

  Node& operator[](int32_t field) noexcept { return nodes[static_cast<size_t>(field)]; }
  const Node& operator[](int32_t field) const noexcept { return nodes[static_cast<size_t>(field)]; }

  bool has_references(int32_t field) const noexcept { return (*this)[field].references >= 0; }
  References& refs(int32_t field) noexcept { return references[static_cast<size_t>((*this)[field].references)]; }
  const References& refs(int32_t field) const noexcept {
    return references[static_cast<size_t>((*this)[field].references)];
  }
};

// Finds everything out: steps 1 and 2 of a copy. Where the source is on a device, sizes and ranges are read back in one
// batch for the whole tree when nothing is sliced, and in at most one a level where inner positions depend on outer
// offsets. Throws EINVAL, with the path of the child, for data that refers to what is not there.
// `sizes_on_host`: whether the sizes of variadic buffers lie in host memory.
Plan make_plan(const schema::Binding& array, const TrimMode& cut, SourceReader& contents, bool sizes_on_host,
               std::pmr::memory_resource* memory);

}  // namespace arrowdevice::transfer
