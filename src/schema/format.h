// SPDX-License-Identifier: Apache-2.0
// Format strings of the C data interface.
#pragma once

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

// Returns the type of a format of one letter, as numbers have, or of a struct. Returns NULL for other formats. The
// function is fast because tables have thousands of fields.
const Type* common_type(const char* format) noexcept;

// Parses a format string. Throws Error without a path. The code is EINVAL for a malformed string ("w:" without a
// number, a repeated type id, ...). The code is ENOTSUP if the string names no known type.
ParsedFormat parse_format(std::string_view format);

}  // namespace arrowdevice::schema
