// SPDX-License-Identifier: Apache-2.0
// What hipPointerGetAttributes() says of memory, which HIP 6 gave other numbers under the same name.
#pragma once

#include <optional>

#include "cuda_like/driver.h"
#include "hip/api.h"

namespace arrowdevice::hip {

// `major`: of the library that filled it. Nothing for memory that it does not know.
std::optional<cuda_like::MemoryKind> pointer_kind(const hipPointerAttribute_t& attributes, int major);

}  // namespace arrowdevice::hip
