// SPDX-License-Identifier: Apache-2.0
// Which slots of a field the rows of an array show.
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

  // For each of `count` slots of a field from `first` on, counted from its first row, whether it is of a valid row of
  // all the structs and lists around it. Whether another layout's rows refer to a slot is not looked at: none counts as
  // seen.
  std::vector<bool> find(int32_t field, int64_t first, int64_t count);

 private:
  // A row of the parent has `times` slots, counted from its first buffer slot: its own offset included.
  void find_in_rows(int32_t parent, int64_t times, int64_t first, std::vector<bool>& is_seen);
  void find_in_lists(int32_t parent, int64_t first, std::vector<bool>& is_seen);

  const schema::Binding& array_;
  ValidityReader validity_;
  DataReader offsets_;
};

}  // namespace arrowdevice::inspect
