// SPDX-License-Identifier: Apache-2.0
// What the slots of a field refer to, as the CPU sees it: offsets, views, type ids, run ends. Read in place, or read
// back from the device in the batches that SourceReader makes.
#pragma once

#include <cstdint>

#include "schema/binding.h"
#include "transfer/extents.h"
#include "transfer/source_reader.h"

namespace arrowdevice::transfer {

// Index buffers on a device are read back to be rebased up to this many bytes. Larger ones are read only for a copy of
// some of the rows to the CPU, where they have to come anyway; else they are copied as they are, with all that they
// refer to.
inline constexpr int64_t kLargestRebasedIndex = 64 << 10;

// Slots [first, first + count) of a field's buffers, the array's own offset included. The first `leading_slots` of them
// are no rows of the array that is copied: they came along for alignment, and may hold anything.
struct Slots {
  int64_t first = 0;
  int64_t count = 0;
  int64_t leading_slots = 0;

  int64_t rows() const noexcept { return count - leading_slots; }
  int64_t first_row() const noexcept { return first + leading_slots; }
};

// The index buffers of some slots; NULL where a layout has no such buffer.
struct Index {
  int64_t begin = 0;  // of lists and binaries: the offset of the first row,
  int64_t end = 0;    // and the one behind the last
  const uint8_t* list_offsets =
      nullptr;                        // from slot `first` on, one more than slots; NULL: only begin and end are known
  const uint8_t* type_ids = nullptr;  // of dense unions, from slot `first` on
  const uint8_t* union_offsets = nullptr;
  const uint8_t* view_offsets = nullptr;  // of list views, from the first row on
  const uint8_t* view_sizes = nullptr;
  const uint8_t* views = nullptr;     // of binary views, from the first row on
  const uint8_t* run_ends = nullptr;  // all of the child's
  Validity validity;                  // of list views and binary views, from the first row on
};

enum class Reading {
  kDone,
  kPending,   // not there yet: noted down for the next batch
  kTooLarge,  // more than is worth reading back
};

class IndexReader {
 public:
  // `target_on_host`: the offsets of lists and binaries are put right where they arrive, so that only their ends have
  // to be known here. `sizes_on_host`: whether the sizes of variadic buffers lie in host memory. Borrows the array and
  // the contents.
  IndexReader(const schema::Binding& array, SourceReader& contents, bool target_on_host, bool sizes_on_host)
      : array_(array), contents_(contents), target_on_host_(target_on_host), sizes_on_host_(sizes_on_host) {}

  // For a field with rows.
  Reading read(int32_t field, const Slots& slots, Index* out);

  // The last offset of a binary that is copied whole.
  Reading read_last_offset(int32_t field, int64_t slots, int64_t* out);

  // The sizes of a field's variadic buffers; NULL: asked for.
  const uint8_t* variadic_sizes(int32_t field);

 private:
  Reading read_offsets(int32_t field, const Slots& slots, Index* out);
  Reading read_list_view(int32_t field, const Slots& slots, Index* out);
  Reading read_dense_union(int32_t field, const Slots& slots, Index* out);
  Reading read_binary_view(int32_t field, const Slots& slots, Index* out);
  Reading read_run_ends(int32_t field, const Slots& slots, Index* out);

  const uint8_t* entries(const void* buffer, int64_t first, int64_t count, int64_t width);
  bool find_validity(int32_t field, int64_t first, int64_t count, Validity* out);
  bool is_worth_reading(int32_t field, const Slots& slots, int64_t entries, int64_t width) const;

  const schema::Binding& array_;
  SourceReader& contents_;
  const bool target_on_host_;
  const bool sizes_on_host_;
};

}  // namespace arrowdevice::transfer
