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
  std::optional<UnionMap> union_map;  // of unions
  int n_type_ids = 0;                 // of unions: how many children the format names
};

// The type of a format that is one letter, as those of numbers are, or a struct's; NULL: it is none such. Cheap, since
// tables have thousands of them.
const Type* common_type(const char* format) noexcept;

// Throws Error without a path: EINVAL for a malformed string ("w:" without a number, a repeated type id, ...), ENOTSUP
// for one that names no known type.
ParsedFormat parse_format(std::string_view format);

}  // namespace arrowdevice::schema
