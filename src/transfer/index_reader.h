// SPDX-License-Identifier: Apache-2.0
// Reads the index data of a field's slots on the CPU: offsets, views, type ids, run ends. Reads in place, or from
// device memory in the batches of a SourceReader.
#pragma once

#include <cstdint>

#include "schema/binding.h"
#include "transfer/extents.h"
#include "transfer/source_reader.h"

namespace arrowdevice::transfer {

// Index buffers on a device are read back and rebased up to this many bytes. Larger buffers are read back only if some
// of the rows are copied to the CPU, because the buffers must arrive there anyway. Otherwise they are copied unchanged,
// with all data that they refer to.
inline constexpr int64_t kLargestRebasedIndex = 64 << 10;

// Slots [first, first + count) of a field's buffers, which includes the array's own offset. The first `leading_slots`
// are not rows of the array that is copied. They are copied for alignment, and may hold any values.
struct Slots {
  int64_t first = 0;
  int64_t count = 0;
  int64_t leading_slots = 0;

  int64_t rows() const noexcept { return count - leading_slots; }
  int64_t first_row() const noexcept { return first + leading_slots; }
};

// The index buffers of some slots. A pointer is NULL if the layout has no such buffer.
struct Index {
  int64_t begin = 0;  // for lists and binaries: the offset of the first row
  int64_t end = 0;    // the offset after the last row
  // For lists and binaries, from slot `first` on, with one entry more than slots. NULL: only begin and end are known.
  const uint8_t* list_offsets = nullptr;
  const uint8_t* type_ids = nullptr;  // for dense unions, from slot `first` on
  const uint8_t* union_offsets = nullptr;
  const uint8_t* view_offsets = nullptr;  // for list views, from the first row on
  const uint8_t* view_sizes = nullptr;
  const uint8_t* views = nullptr;     // for binary views, from the first row on
  const uint8_t* run_ends = nullptr;  // all run ends of the child
  Validity validity;                  // for list views and binary views, from the first row on
};

enum class Reading {
  kDone,
  kPending,   // not available yet: a pending read of the next batch
  kTooLarge,  // too large to read back
};

class IndexReader {
 public:
  // Borrows the array and the reader. If `target_on_host` is true, offsets of lists and binaries are rebased after they
  // have arrived. Only the first and last offsets are read here then. `sizes_on_host` is true if the sizes of variadic
  // buffers are in host memory.
  IndexReader(const schema::Binding& array, SourceReader& contents, bool target_on_host, bool sizes_on_host)
      : array_(array), contents_(contents), target_on_host_(target_on_host), sizes_on_host_(sizes_on_host) {}

  // Reads the index of a field with rows.
  Reading read(int32_t field, const Slots& slots, Index* out);

  // Reads the last offset of a binary that is copied without trimming.
  Reading read_last_offset(int32_t field, int64_t slots, int64_t* out);

  // Returns the sizes of a field's variadic buffers, or NULL if they are a pending read.
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
