// SPDX-License-Identifier: Apache-2.0
// An array's data as the CPU sees it, a piece at a time: in place where it can, else read back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "schema/binding.h"
#include "transfer/extents.h"
#include "transfer/source_reader.h"

namespace arrowdevice::inspect {

// Of data that is in host memory at once.
inline constexpr int64_t kPieceBytes = 1 << 20;

// Calls body(first, count) for so many slots at a time that they need no more than kPieceBytes.
template <typename Body>
void in_pieces(int64_t slots, int64_t bytes_of_a_slot, const Body& body) {
  const int64_t most = std::max<int64_t>(kPieceBytes / std::max<int64_t>(bytes_of_a_slot, 1), 1);
  for (int64_t first = 0; first < slots; first += most) body(first, std::min(most, slots - first));
}

// Where data is read from. The event was waited for.
struct DataSource {
  device::Device& device;
  device::Queue* queue;  // of the device; NULL where the CPU reads its memory in place
  const device::ForeignEvent& event;
  const Deadline& deadline;
};

// One place in a buffer of the array. `size` > 0.
struct DataRange {
  const void* buffer;
  int64_t offset;
  int64_t size;
};

class DataReader {
 public:
  explicit DataReader(const DataSource& source) : source_(source) {}

  // Host memory with the bytes of each range, valid until the next call.
  template <size_t n>
  std::array<const uint8_t*, n> read(const DataRange (&ranges)[n]) {
    std::array<const uint8_t*, n> found;
    read(ranges, n, found.data());
    return found;
  }
  const uint8_t* read(const DataRange& range) {
    const uint8_t* found = nullptr;
    read(&range, 1, &found);
    return found;
  }
  void read(const DataRange* ranges, size_t n, const uint8_t** out);

 private:
  const DataSource source_;
  std::optional<transfer::SourceReader> contents_;  // of the last call
};

// Throws EINVAL: "batch.prices: slot 7 " and why. Slots are counted from the field's first row.
[[noreturn]] void refuse_slot(const schema::Binding& array, int32_t field, int64_t slot, const std::string& why);

// Validity bitmaps.
class ValidityReader {
 public:
  ValidityReader(const schema::Binding& array, const DataSource& source) : array_(array), bits_(source) {}

  bool has_bitmap(int32_t field) const {
    return array_.tree()[field].type.info().has_validity && array_.buffers(field)[0] != nullptr;
  }

  // Of `count` slots of a field from `first` on, counted from its first row. Valid until the next call.
  transfer::Validity read(int32_t field, int64_t first, int64_t count);

  // How many of these are null.
  int64_t count_nulls(int32_t field, int64_t first, int64_t count);

 private:
  const schema::Binding& array_;
  DataReader bits_;
};

}  // namespace arrowdevice::inspect
