// SPDX-License-Identifier: Apache-2.0
// CUDA's driver API as the shared implementation uses it.
#pragma once

#include <memory>

#include "shared_streams/driver.h"

namespace arrowdevice::cuda {

// Throws Error(ENODEV) with the reason if it is not there.
std::unique_ptr<streams::Driver> open_driver();

}  // namespace arrowdevice::cuda
