// SPDX-License-Identifier: Apache-2.0
// The devices of all platforms in the order of their ids: platforms as the loader lists them, and the devices of each
// as its driver lists them. That is the order of `clinfo -l`, and the same in every process as long as the same drivers
// are installed.
#pragma once

#include <vector>

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

struct PlatformDevice {
  cl_platform_id platform;
  cl_device_id device;
};

// Those with OpenCL 1.2 at least. Throws ENODEV with the reason where there are none.
std::vector<PlatformDevice> list_platform_devices();

}  // namespace arrowdevice::opencl
