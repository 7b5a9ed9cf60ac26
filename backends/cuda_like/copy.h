// SPDX-License-Identifier: Apache-2.0
// Enqueues a batch of regions of the backend table on a stream.
#pragma once

#include <arrowdevice/backend.h>

#include <span>

#include "cuda_like/gpu.h"

namespace arrowdevice::cuda_like {

// Enqueues `regions` on `stream`, which belongs to `gpu`. The caller has made `gpu` current.
void copy_regions(Driver& driver, Gpu& gpu, Stream stream, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::cuda_like
