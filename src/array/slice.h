// SPDX-License-Identifier: Apache-2.0
// Slices of arrays as shared owners of their memory: all of it, some rows, some columns. No data is read or copied.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <span>

namespace arrowdevice::array {

void share(ArrowDeviceArray& inout, ArrowDeviceArray* out);
void slice(ArrowDeviceArray& inout, const ArrowSchema& schema, int64_t offset, int64_t length, ArrowDeviceArray* out);
// Selects children as a new array. `out_schema` may be NULL.
void select(ArrowDeviceArray& inout, const ArrowSchema& schema, std::span<const int64_t> children,
            ArrowDeviceArray* out, ArrowSchema* out_schema);

}  // namespace arrowdevice::array
