// SPDX-License-Identifier: Apache-2.0
// Binary views, held against the data that they refer to.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/buffer_bounds.h"
#include "inspect/data_reader.h"
#include "inspect/utf8.h"

namespace arrowdevice::inspect {

class BinaryViewCheck {
 public:
  // Borrows the array and the places.
  BinaryViewCheck(const schema::Binding& array, const DataSource& source, const BufferBounds& places)
      : array_(array),
        places_(places),
        validity_(array, source),
        index_(source),
        data_(source),
        sizes_on_host_(array.has_variadic() && transfer::variadic_sizes_on_host(array, source.device)) {}

  // Throws EINVAL for a valid view of a negative length, of data that is not there, with a prefix that is not its
  // data's, or, where the type says so, of a text that is no UTF-8.
  void check(int32_t field);

 private:
  struct Part;
  struct Batch;

  std::vector<int64_t> variadic_sizes(int32_t field);
  void check_view(int32_t field, int64_t slot, const transfer::BinaryView& view,
                  const std::vector<int64_t>& sizes) const;
  void check_batch(int32_t field, const Batch& batch, bool is_text, Utf8Check& text);

  const schema::Binding& array_;
  const BufferBounds& places_;
  // One for each kind of data, since what was read is valid until the next call only.
  ValidityReader validity_;
  DataReader index_;
  DataReader data_;
  const bool sizes_on_host_;
};

}  // namespace arrowdevice::inspect
