// SPDX-License-Identifier: Apache-2.0
#include "inspect/data_reader.h"

#include "base/checked.h"
#include "transfer/bits.h"

namespace arrowdevice::inspect {

void DataReader::read(const DataRange* ranges, size_t n, const uint8_t** out) {
  if (source_.queue == nullptr) {
    contents_.emplace();
  } else {
    contents_.emplace(source_.device, *source_.queue, source_.event, source_.deadline, source_.moved);
  }
  const auto find_all = [&] {
    for (size_t i = 0; i < n; ++i) out[i] = contents_->find(ranges[i].buffer, ranges[i].offset, ranges[i].size);
  };
  find_all();
  if (!contents_->has_pending_reads()) return;
  contents_->read_back();
  find_all();
}

void refuse_slot(const schema::Binding& array, int32_t field, int64_t slot, const std::string& why) {
  array.refuse(field, "slot " + std::to_string(slot) + " " + why);
}

transfer::Validity ValidityReader::read(int32_t field, int64_t first, int64_t count) {
  if (!has_bitmap(field)) return {};
  const int64_t bit = array_[field].offset + first;
  return {bits_.read({array_.buffers(field)[0], bit / 8, bytes_for_bits(bit % 8 + count)}), bit % 8};
}

int64_t ValidityReader::count_nulls(int32_t field, int64_t first, int64_t count) {
  if (!has_bitmap(field)) return 0;
  constexpr int64_t kSlotsOfAPiece = kPieceBytes * 8;
  int64_t valid = 0;
  for (int64_t counted = 0; counted < count; counted += kSlotsOfAPiece) {
    const int64_t slots = std::min(kSlotsOfAPiece, count - counted);
    const auto piece = read(field, first + counted, slots);
    valid += transfer::count_bits(piece.bits, piece.bit, slots);
  }
  return count - valid;
}

}  // namespace arrowdevice::inspect
