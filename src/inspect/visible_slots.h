// SPDX-License-Identifier: Apache-2.0
// The slots of a field that the rows of an array show.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/data_reader.h"

namespace arrowdevice::inspect {

class VisibleSlots {
 public:
  // Borrows the array, whose offsets were checked.
  VisibleSlots(const schema::Binding& array, const DataSource& source)
      : array_(array), validity_(array, source), offsets_(source) {}

  // Computes a flag for each of `count` slots of a field from `first` on, counted from its first row. The flag is true
  // if the slot belongs to a valid row of all surrounding structs and lists. Rows of other layouts are not checked, so
  // their slots count as not visible.
  std::vector<bool> find(int32_t field, int64_t first, int64_t count);

 private:
  // Does the work for parents with `times` slots per row. Slots are counted from the first buffer slot, so they include
  // the parent's own offset.
  void find_in_rows(int32_t parent, int64_t times, int64_t first, std::vector<bool>& is_seen);
  void find_in_lists(int32_t parent, int64_t first, std::vector<bool>& is_seen);

  const schema::Binding& array_;
  ValidityReader validity_;
  DataReader offsets_;
};

}  // namespace arrowdevice::inspect
