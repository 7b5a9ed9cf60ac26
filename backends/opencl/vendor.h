// SPDX-License-Identifier: Apache-2.0
// Khronos' headers for the versions that the backend uses: 1.2, and 2.0 if a device supports it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, the only function for this before 2.0

#include <CL/cl.h>

namespace arrowdevice::opencl {

// Constants of cl_khr_icd and cl_khr_device_uuid. The headers of distributions have them under several names or not at
// all.
inline constexpr cl_int kPlatformNotFound = -1001;
inline constexpr cl_device_info kDeviceUuid = 0x106A;

}  // namespace arrowdevice::opencl
