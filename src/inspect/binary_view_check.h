// SPDX-License-Identifier: Apache-2.0
// Checks binary views against the data that they refer to.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/buffer_bounds.h"
#include "inspect/data_reader.h"
#include "inspect/utf8.h"

namespace arrowdevice::inspect {

class BinaryViewCheck {
 public:
  // Borrows the array and the bounds.
  BinaryViewCheck(const schema::Binding& array, const DataSource& source, const BufferBounds& places)
      : array_(array),
        places_(places),
        validity_(array, source),
        index_(source),
        data_(source),
        sizes_on_host_(array.has_variadic() && transfer::variadic_sizes_on_host(array, source.device)) {}

  // Throws EINVAL if a valid view has a negative length, refers to missing data, or has a prefix that differs from its
  // data. If the type is text, throws EINVAL if the bytes are not UTF-8.
  void check(int32_t field);

 private:
  struct ViewRange;
  struct Batch;

  std::vector<int64_t> variadic_sizes(int32_t field);
  bool are_valid(int32_t field, const uint8_t* views, int64_t count, const std::vector<int64_t>& sizes,
                 bool is_text) const;
  void check_slot(int32_t field, int64_t slot, const transfer::BinaryView& view, const std::vector<int64_t>& sizes,
                  Batch& batch);
  void check_view(int32_t field, int64_t slot, const transfer::BinaryView& view, const std::vector<int64_t>& sizes,
                  bool is_text) const;
  void add_to_batch(int32_t field, int64_t slot, const transfer::BinaryView& view, Batch& batch);
  void check_batch(int32_t field, Batch& batch);

  const schema::Binding& array_;
  const BufferBounds& places_;
  // One reader for each kind of data, because the bytes of a read are valid only until the next read.
  ValidityReader validity_;
  DataReader index_;
  DataReader data_;
  const bool sizes_on_host_;
};

}  // namespace arrowdevice::inspect
