// SPDX-License-Identifier: Apache-2.0
// The HIP runtime behind the interface that CUDA and HIP share.
#pragma once

#include <memory>

#include "cuda_like/driver.h"

namespace arrowdevice::hip {

// Throws Error(ENODEV) with the reason if the runtime is not available.
std::unique_ptr<cuda_like::Driver> open_driver();

}  // namespace arrowdevice::hip
