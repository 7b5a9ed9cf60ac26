// SPDX-License-Identifier: Apache-2.0
// The types of elements that Arrow and DLPack have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "interop/dlpack.h"
#include "schema/tree.h"

namespace arrowdevice::interop {

// A type that means the same in both, and looks the same in memory.
struct ElementType {
  const char* format;
  uint8_t code;
  uint8_t bits;

  int64_t bytes() const noexcept { return bits / 8; }
  Dtype dtype() const noexcept { return {.code = code, .bits = bits, .lanes = 1}; }
};

// NULL where DLPack has no such type.
const ElementType* find_element_type(std::string_view format) noexcept;
// NULL where Arrow has no such type.
const ElementType* find_element_type(const Dtype& dtype) noexcept;

// Why a field that is no fixed-size list has no elements of a tensor.
std::string why_no_tensor(const schema::Field& field);

// Why there is no array of such elements.
std::string why_no_array(const Dtype& dtype);

}  // namespace arrowdevice::interop
