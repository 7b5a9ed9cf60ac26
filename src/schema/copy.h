// SPDX-License-Identifier: Apache-2.0
// Deep copies of schemas.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>

namespace arrowdevice::schema {

// Copies a schema into a self-contained copy, in which each child has its own release. Throws EINVAL, with the path,
// for a malformed schema.
void copy(const ArrowSchema& schema, ArrowSchema* out);

// Does the same as copy(), with only some children of the root, in the given order. The indices must be valid.
void copy_selection(const ArrowSchema& schema, std::span<const int64_t> children, ArrowSchema* out);

}  // namespace arrowdevice::schema
