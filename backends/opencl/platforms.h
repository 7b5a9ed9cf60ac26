// SPDX-License-Identifier: Apache-2.0
// The devices of all platforms in the order of their ids. Platforms are in the loader's order, and the devices of a
// platform in its driver's order. `clinfo -l` uses the same order. It is the same in every process while the installed
// drivers do not change.
#pragma once

#include <vector>

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

struct PlatformDevice {
  cl_platform_id platform;
  cl_device_id device;
};

// Returns the devices with OpenCL 1.2 or later. Throws ENODEV with the reason if there are none.
std::vector<PlatformDevice> list_platform_devices();

}  // namespace arrowdevice::opencl
