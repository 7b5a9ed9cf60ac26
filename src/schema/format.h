// SPDX-License-Identifier: Apache-2.0
// Format strings of the C data interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "schema/layout.h"
#include "schema/tree.h"

namespace arrowdevice::schema {

struct ParsedFormat {
  Type type;                          // without union_map
  std::optional<UnionMap> union_map;  // for unions
  int n_type_ids = 0;                 // for unions: the number of children that the format names
};

// The types of formats of one letter, and NULL for other letters.
extern const std::array<const Type*, 256> kTypesByLetter;
extern const Type& kStructType;

// Returns the type of a format of one letter, as numbers have, or of a struct. Returns NULL for other formats. The
// function is fast because tables have thousands of fields.
inline const Type* common_type(const char* format) noexcept {
  if (format[0] != '\0' && format[1] == '\0') return kTypesByLetter[static_cast<uint8_t>(format[0])];
  return format[0] == '+' && format[1] == 's' && format[2] == '\0' ? &kStructType : nullptr;
}

// The bytes of a value for formats of one letter, and 0 for other letters.
extern const std::array<uint8_t, 256> kBytesByLetter;

// Returns the type of a list, or of a format with a unit or a width, which is then in `room`. Returns NULL for other
// formats and for malformed ones.
const Type* list_or_wide_type(const char* format, Type* room) noexcept;

// Parses a format string. Throws Error without a path. The code is EINVAL for a malformed string ("w:" without a
// number, a repeated type id, ...). The code is ENOTSUP if the string names no known type.
ParsedFormat parse_format(std::string_view format);

}  // namespace arrowdevice::schema
