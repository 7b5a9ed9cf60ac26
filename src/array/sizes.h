// SPDX-License-Identifier: Apache-2.0
// How many bytes of each buffer an array uses.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/binding.h"
#include "transfer/contents.h"

namespace arrowdevice::array {

inline constexpr int64_t kUnknownSize = -1;

struct BufferSizes {
  // Of each field, in order, one after the other; kUnknownSize where only data that was not looked at says.
  std::vector<int64_t> bytes;
  std::vector<size_t> first;  // where a field's begin
};

// `contents`: NULL if the data must not be looked at. `sizes_on_host`: whether the sizes of variadic buffers are in
// host memory, and may be looked at.
BufferSizes buffer_sizes(const schema::Binding& array, transfer::Contents* contents, bool sizes_on_host);

}  // namespace arrowdevice::array
