// SPDX-License-Identifier: Apache-2.0
// A batch of regions, as the table gets it, enqueued on a stream.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

// While `gpu`, whose stream it is, is current.
void copy_regions(Driver& driver, Gpu& gpu, Stream stream, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::cuda_like
