// SPDX-License-Identifier: Apache-2.0
// The HIP runtime as the shared implementation uses it.
#pragma once

#include <memory>

#include "cuda_like/driver.h"

namespace arrowdevice::hip {

// Throws Error(ENODEV) with the reason if it is not there.
std::unique_ptr<cuda_like::Driver> open_driver();

}  // namespace arrowdevice::hip
