// SPDX-License-Identifier: Apache-2.0
// The number of bytes of each buffer that an array uses.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "schema/binding.h"
#include "transfer/source_reader.h"

namespace arrowdevice::inspect {

inline constexpr int64_t kUnknownSize = -1;

// Returns the bytes of each field's buffers, in order. A size is kUnknownSize if it depends on data that was not read.
// `contents` is NULL if the data must not be read. `sizes_on_host` is true if the sizes of variadic buffers are in host
// memory and may be read.
std::pmr::vector<int64_t> buffer_sizes(const schema::Binding& array, transfer::SourceReader* contents,
                                       bool sizes_on_host, std::pmr::memory_resource* memory);

}  // namespace arrowdevice::inspect
