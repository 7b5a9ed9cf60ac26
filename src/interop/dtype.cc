// SPDX-License-Identifier: Apache-2.0
#include "interop/dtype.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace arrowdevice::interop {
namespace {

constexpr std::array kElementTypes = {
    ElementType{"c", Dtype::kInt, 8},    ElementType{"s", Dtype::kInt, 16},   ElementType{"i", Dtype::kInt, 32},
    ElementType{"l", Dtype::kInt, 64},   ElementType{"C", Dtype::kUInt, 8},   ElementType{"S", Dtype::kUInt, 16},
    ElementType{"I", Dtype::kUInt, 32},  ElementType{"L", Dtype::kUInt, 64},  ElementType{"e", Dtype::kFloat, 16},
    ElementType{"f", Dtype::kFloat, 32}, ElementType{"g", Dtype::kFloat, 64},
};

const ElementType* pointer_or_null(decltype(kElementTypes)::const_iterator found) noexcept {
  return found == kElementTypes.end() ? nullptr : &*found;
}

// Returns the name of a code for messages. The codes of 8 bits and fewer differ in their bit layout.
const char* name_of(uint8_t code) noexcept {
  switch (code) {
    case Dtype::kInt: return "int";
    case Dtype::kUInt: return "uint";
    case Dtype::kFloat: return "float";
    case Dtype::kBfloat: return "bfloat";
    case Dtype::kComplex: return "complex";
    default: return nullptr;
  }
}

}  // namespace

const ElementType* find_element_type(std::string_view format) noexcept {
  return pointer_or_null(std::ranges::find(kElementTypes, format, &ElementType::format));
}

const ElementType* find_element_type(const Dtype& dtype) noexcept {
  if (dtype.lanes != 1) return nullptr;
  return pointer_or_null(std::ranges::find_if(
      kElementTypes, [&](const ElementType& type) { return type.code == dtype.code && type.bits == dtype.bits; }));
}

std::string why_no_tensor(const schema::Field& field) {
  const std::string_view format = field.source->format;
  if (field.dictionary >= 0) return "it is dictionary-encoded, and its indices are not its values";
  if (format == "b") return "booleans are bits in Arrow and bytes in DLPack";
  if (field.type.layout == schema::Layout::kStruct)
    return "a struct is not a tensor, but each of its columns may be one";
  if (field.type.layout != schema::Layout::kFixed) {
    return std::string("its layout is ") + field.type.info().name +
           ", and only numbers and fixed-size lists of them are tensors";
  }
  std::string why = "DLPack has no dtype for \"" + std::string(format) + "\"";
  // Dates, times, timestamps and durations are integers, but DLPack would lose their unit.
  const bool is_integer = format[0] == 't' && format[1] != 'i';
  if (is_integer)
    why += ", though for its numbers alone: give a schema of \"" + std::string(field.type.bit_width == 32 ? "i" : "l") +
           "\"";
  return why;
}

std::string why_no_array(const Dtype& dtype) {
  if (dtype.lanes != 1) return arrowdevice::format("its elements have %u lanes, and Arrow's have one", dtype.lanes);
  if (dtype.code == Dtype::kBool) return "booleans are bytes in DLPack and bits in Arrow";
  const char* const name = name_of(dtype.code);
  if (name == nullptr) {
    return arrowdevice::format("Arrow has no type for elements of code %u and %u bits", dtype.code, dtype.bits);
  }
  return arrowdevice::format("Arrow has no type for %s%u", name, dtype.bits);
}

}  // namespace arrowdevice::interop
