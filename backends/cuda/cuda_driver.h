// SPDX-License-Identifier: Apache-2.0
// CUDA's driver API behind the interface that CUDA and HIP share.
#pragma once

#include <memory>

#include "cuda_like/driver.h"

namespace arrowdevice::cuda {

// Throws Error(ENODEV) with the reason if the driver is not available.
std::unique_ptr<cuda_like::Driver> open_driver();

}  // namespace arrowdevice::cuda
