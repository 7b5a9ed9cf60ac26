// SPDX-License-Identifier: Apache-2.0
// Checks that the texts of an array are UTF-8.
#pragma once

#include <cstdint>

#include "inspect/data_reader.h"

namespace arrowdevice::inspect {

class TextCheck {
 public:
  // Borrows the array.
  TextCheck(const schema::Binding& array, const DataSource& source)
      : array_(array), validity_(array, source), data_(source) {}

  // Throws EINVAL if a valid text of `count` slots from `first` on is not UTF-8. `offsets` are the count + 1 offsets of
  // these slots. They do not decrease, and the buffer `bytes` has the data that they refer to.
  void check(int32_t field, int64_t first, int64_t count, const uint8_t* offsets, int width, const void* bytes);

 private:
  struct Texts;

  // The bytes of the buffer from `begin` to `end`, which are on the host.
  struct Window {
    const uint8_t* bytes = nullptr;
    int64_t begin = 0;
    int64_t end = 0;

    const uint8_t* at(int64_t offset) const noexcept { return bytes + (offset - begin); }
  };

  void read_window(const Texts& texts, int64_t begin, Window& window);
  bool is_text(const Texts& texts, int64_t slot, Window& window);

  const schema::Binding& array_;
  // One reader for each kind of data, because the bytes of a read are valid only until the next read.
  ValidityReader validity_;
  DataReader data_;
};

}  // namespace arrowdevice::inspect
