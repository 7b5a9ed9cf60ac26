// SPDX-License-Identifier: Apache-2.0
// Reads an array's data on the CPU in pieces: in place if the CPU can read it, else read back.
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

// Limit of the data that is in host memory at once.
inline constexpr int64_t kPieceBytes = 1 << 20;

// Calls body(first, count) for ranges of slots that need at most kPieceBytes each.
template <typename Body>
void in_pieces(int64_t slots, int64_t bytes_of_a_slot, const Body& body) {
  const int64_t most = std::max<int64_t>(kPieceBytes / std::max<int64_t>(bytes_of_a_slot, 1), 1);
  for (int64_t first = 0; first < slots; first += most) body(first, std::min(most, slots - first));
}

// The source of an array's data. The array's event has fired.
struct DataSource {
  device::Device& device;
  device::Queue* queue;  // of the device; NULL if the CPU reads its memory in place
  const device::ForeignEvent& event;
  const Deadline& deadline;
  ArrowDeviceArray* moved = nullptr;  // the array, if the call has taken it over and may end early
};

// A range of a buffer of the array. `size` > 0.
struct DataRange {
  const void* buffer;
  int64_t offset;
  int64_t size;
};

class DataReader {
 public:
  explicit DataReader(const DataSource& source) : source_(source) {}

  // Returns true if the CPU reads the memory of the device in place.
  bool in_place() const noexcept { return source_.queue == nullptr; }

  // Returns host memory with the bytes of each range, valid until the next call.
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

// Throws EINVAL with the text "batch.prices: slot 7 " and the reason. Slots are counted from the field's first row.
[[noreturn]] void refuse_slot(const schema::Binding& array, int32_t field, int64_t slot, const std::string& why);

// Reads validity bitmaps.
class ValidityReader {
 public:
  ValidityReader(const schema::Binding& array, const DataSource& source) : array_(array), bits_(source) {}

  bool has_bitmap(int32_t field) const {
    return array_.tree()[field].type.info().has_validity && array_.buffers(field)[0] != nullptr;
  }

  // Returns the validity of `count` slots of a field from `first` on, counted from its first row. Valid until the next
  // call.
  transfer::Validity read(int32_t field, int64_t first, int64_t count);

  // Counts the nulls among these slots.
  int64_t count_nulls(int32_t field, int64_t first, int64_t count);

 private:
  const schema::Binding& array_;
  DataReader bits_;
};

}  // namespace arrowdevice::inspect
