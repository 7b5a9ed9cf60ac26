// SPDX-License-Identifier: Apache-2.0
// How many bytes of each buffer an array uses.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "schema/binding.h"
#include "transfer/source_reader.h"

namespace arrowdevice::inspect {

inline constexpr int64_t kUnknownSize = -1;

// The bytes of each field's buffers, in order, one after the other; kUnknownSize where only data that was not looked at
// says. `contents`: NULL if the data must not be looked at. `sizes_on_host`: whether the sizes of variadic buffers are
// in host memory, and may be looked at.
std::pmr::vector<int64_t> buffer_sizes(const schema::Binding& array, transfer::SourceReader* contents,
                                       bool sizes_on_host, std::pmr::memory_resource* memory);

}  // namespace arrowdevice::inspect
