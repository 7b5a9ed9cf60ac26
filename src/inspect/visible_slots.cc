// SPDX-License-Identifier: Apache-2.0
#include "inspect/visible_slots.h"

#include <algorithm>

#include "base/checked.h"

namespace arrowdevice::inspect {

using schema::ReferenceKind;
using transfer::Validity;

std::vector<bool> VisibleSlots::find(int32_t field, int64_t first, int64_t count) {
  const int32_t parent = array_.tree()[field].parent;
  std::vector<bool> is_seen(static_cast<size_t>(count), parent < 0);
  if (parent < 0) return is_seen;
  const auto& type = array_.tree()[parent].type;
  const bool is_union = type.union_map >= 0;
  switch (type.info().refers) {
    case ReferenceKind::kIdentity:
      if (!is_union) find_in_rows(parent, 1, first, is_seen);
      break;
    case ReferenceKind::kScaled: find_in_rows(parent, type.list_size, first, is_seen); break;
    case ReferenceKind::kOffsets: find_in_lists(parent, first, is_seen); break;
    default: break;
  }
  return is_seen;
}

void VisibleSlots::find_in_rows(int32_t parent, int64_t times, int64_t first, std::vector<bool>& is_seen) {
  const auto& above = array_[parent];
  const auto count = static_cast<int64_t>(is_seen.size());
  if (times == 0 || count == 0) return;
  const int64_t from = std::max(first / times, above.offset);
  const int64_t to = std::min((first + count - 1) / times + 1, above.offset + above.length);
  if (from >= to) return;
  const std::vector<bool> is_seen_above = find(parent, from - above.offset, to - from);
  const Validity valid = validity_.read(parent, from - above.offset, to - from);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = (first + i) / times - from;
    if (row < 0 || row >= to - from) continue;
    is_seen[static_cast<size_t>(i)] = is_seen_above[static_cast<size_t>(row)] && valid.is_valid(row);
  }
}

void VisibleSlots::find_in_lists(int32_t parent, int64_t first, std::vector<bool>& is_seen) {
  const auto& above = array_[parent];
  const int width = array_.tree()[parent].type.info().offset_bytes;
  const auto count = static_cast<int64_t>(is_seen.size());
  in_pieces(above.length, width, [&](int64_t first_row, int64_t rows) {
    const std::vector<bool> is_seen_above = find(parent, first_row, rows);
    const Validity valid = validity_.read(parent, first_row, rows);
    const auto* const offsets = offsets_.read({array_.buffer(parent, schema::BufferShape::kOffsets),
                                               checked_mul(above.offset + first_row, width), (rows + 1) * width});
    for (int64_t row = 0; row < rows; ++row) {
      if (!is_seen_above[static_cast<size_t>(row)] || !valid.is_valid(row)) continue;
      const int64_t begin = std::max(transfer::load_index(offsets, row, width), first);
      const int64_t end = std::min(transfer::load_index(offsets, row + 1, width), first + count);
      for (int64_t slot = begin; slot < end; ++slot) is_seen[static_cast<size_t>(slot - first)] = true;
    }
  });
}

}  // namespace arrowdevice::inspect
