// SPDX-License-Identifier: Apache-2.0
// OpenCL versions that devices report.
#pragma once

#include <cerrno>
#include <cstdio>
#include <utility>

#include "opencl/query.h"

namespace arrowdevice::opencl {

// Major and minor version.
using Version = std::pair<int, int>;

inline constexpr Version kOpenCl12{1, 2};
inline constexpr Version kOpenCl20{2, 0};

// Parses the device's version text, "OpenCL 3.0 <vendor text>".
inline Version version_of(cl_device_id device) {
  const std::string text = ask_device_text(device, CL_DEVICE_VERSION);
  Version version;
  if (std::sscanf(text.c_str(), "OpenCL %d.%d", &version.first, &version.second) != 2) {
    throw Error(EIO, "clGetDeviceInfo: a device has the version \"" + text + "\"");
  }
  return version;
}

}  // namespace arrowdevice::opencl
