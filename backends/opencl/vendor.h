// SPDX-License-Identifier: Apache-2.0
// Khronos' header, for the versions of the interface that this backend uses: 1.2, and 2.0 where a device has it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, the only way before 2.0

#include <CL/cl.h>

namespace arrowdevice::opencl {

// Of cl_khr_icd and cl_khr_device_uuid, which headers of distributions have under several names or not at all.
inline constexpr cl_int kPlatformNotFound = -1001;
inline constexpr cl_device_info kDeviceUuid = 0x106A;

}  // namespace arrowdevice::opencl
