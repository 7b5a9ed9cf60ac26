// SPDX-License-Identifier: Apache-2.0
// The kind of memory that hipPointerGetAttributes() reports. HIP 6 changed the numbers but kept the names.
#pragma once

#include <optional>

#include "cuda_like/driver.h"
#include "hip/api.h"

namespace arrowdevice::hip {

// `major` is the version of the library that filled `attributes`. Returns nullopt for unknown memory.
std::optional<cuda_like::MemoryKind> pointer_kind(const hipPointerAttribute_t& attributes, int major);

}  // namespace arrowdevice::hip
