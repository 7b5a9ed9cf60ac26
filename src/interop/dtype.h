// SPDX-License-Identifier: Apache-2.0
// The element types that Arrow and DLPack share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "interop/dlpack.h"
#include "schema/tree.h"

namespace arrowdevice::interop {

// A type that has the same meaning and the same bytes in both.
struct ElementType {
  const char* format;
  uint8_t code;
  uint8_t bits;

  int64_t bytes() const noexcept { return bits / 8; }
  Dtype dtype() const noexcept { return {.code = code, .bits = bits, .lanes = 1}; }
};

// Returns NULL if DLPack has no such type.
const ElementType* find_element_type(std::string_view format) noexcept;
// Returns NULL if Arrow has no such type.
const ElementType* find_element_type(const Dtype& dtype) noexcept;

// Returns the reason why a field that is not a fixed-size list cannot be the elements of a tensor.
std::string why_no_tensor(const schema::Field& field);

// Returns the reason why there is no array of such elements.
std::string why_no_array(const Dtype& dtype);

}  // namespace arrowdevice::interop
