// SPDX-License-Identifier: Apache-2.0
// The first of two passes over the structs of an array in host memory: checks them, and records what there is to copy.
// It knows fixed widths, booleans, binaries, lists and structs, nested in any way. The copy engine does everything
// else. It also has the messages, so that a mistake here only means that the engine looks at the array.
#pragma once

#include <arrowdevice/abi.h>

#include <array>
#include <cstdint>

#include "array/output.h"
#include "base/kept_blocks.h"
#include "transfer/placement.h"

namespace arrowdevice::transfer {

// The part of a field that is copied.
struct HostField {
  enum class Values : uint8_t { kNone, kBytes, kBits };

  const uint8_t* validity = nullptr;  // the bitmap, or NULL if it is not copied
  const uint8_t* offsets = nullptr;   // of the first row; NULL: a single offset, 0
  const uint8_t* values = nullptr;    // of the first row, or a bitmap
  int64_t bytes = 0;                  // of the values
  int64_t rows = 0;
  int64_t null_count = 0;  // -1: it is counted in the copy
  int64_t first_bit = 0;   // of the rows in bitmaps
  int32_t n_children = 0;
  Values kind = Values::kNone;
  uint8_t offset_bytes = 0;  // 0: the field has no offsets

  // Returns the bytes of the offsets that are written. Readers expect an offset in an empty array too.
  int64_t size_of_offsets() const noexcept { return (offsets == nullptr ? 1 : rows + 1) * offset_bytes; }
};
static_assert(sizeof(HostField) == 64, "a field is a cache line");

// The fields of an array, each before its children.
class HostFields {
 public:
  HostFields() = default;
  ~HostFields() {
    if (larger_.block != nullptr) kept_blocks::give_back(larger_);
  }
  HostFields(const HostFields&) = delete;
  HostFields& operator=(const HostFields&) = delete;

  // Adds a field that is not initialized. Returns NULL if there is no memory. Makes earlier pointers invalid.
  [[gnu::always_inline]] HostField* add() noexcept {
    return size_ < capacity_ || reserve(int64_t{size_} + 1) ? &fields_[size_++] : nullptr;
  }
  // Makes room for that many fields in all. Returns false if there is no memory.
  [[gnu::noinline]] bool reserve(int64_t fields) noexcept;

  const HostField* begin() const noexcept { return fields_; }
  int32_t size() const noexcept { return size_; }

 private:
  static constexpr int32_t kFew = 32;

  // Not initialized, because most of it stays unused.
  union Few {
    Few() noexcept {}
    std::array<HostField, kFew> fields;
  } few_;
  HostField* fields_ = few_.fields.data();
  int32_t size_ = 0;
  int32_t capacity_ = kFew;
  kept_blocks::Memory larger_;
};

constexpr int64_t padded(int64_t bytes) noexcept { return (bytes + kPaddedTo - 1) & -kPaddedTo; }

struct HostTotals {
  array::OutputShape shape;
  int64_t bytes = 0;  // of the buffers, each padded to 64 bytes
};

// Returns false for an array that the copy engine must look at. Reads the structs, and the first and the last offset of
// each field with offsets.
bool measure(const ArrowSchema& schema, const ArrowArray& array, HostFields& fields, HostTotals& totals) noexcept;

}  // namespace arrowdevice::transfer
