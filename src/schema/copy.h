// SPDX-License-Identifier: Apache-2.0
// Deep copies of schemas.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>

namespace arrowdevice::schema {

// A copy that depends on nothing of the original; each of its children has a release of its own. Throws EINVAL, with
// the path, for a schema that is malformed.
void copy(const ArrowSchema& schema, ArrowSchema* out);

// As copy(), with only some children of the root, in the order given. The indices must be valid.
void copy_selection(const ArrowSchema& schema, std::span<const int64_t> children, ArrowSchema* out);

}  // namespace arrowdevice::schema
