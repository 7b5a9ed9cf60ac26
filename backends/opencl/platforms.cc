// SPDX-License-Identifier: Apache-2.0
#include "opencl/platforms.h"

#include <cerrno>

#include "opencl/query.h"
#include "opencl/version.h"

namespace arrowdevice::opencl {
namespace {

std::vector<cl_platform_id> list_platforms() {
  cl_uint count = 0;
  check("clGetPlatformIDs", open_api().clGetPlatformIDs(0, nullptr, &count), "no OpenCL driver is installed");
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) check("clGetPlatformIDs", api().clGetPlatformIDs(count, platforms.data(), nullptr));
  return platforms;
}

std::vector<cl_device_id> list_devices(cl_platform_id platform) {
  cl_uint count = 0;
  const cl_int code = api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (code == CL_DEVICE_NOT_FOUND) return {};  // a driver without hardware
  check("clGetDeviceIDs", code);
  std::vector<cl_device_id> devices(count);
  if (count > 0)
    check("clGetDeviceIDs", api().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
  return devices;
}

}  // namespace

std::vector<PlatformDevice> list_platform_devices() {
  std::vector<PlatformDevice> listed;
  bool any_older = false;
  for (const auto platform : list_platforms()) {
    for (const auto device : list_devices(platform)) {
      if (version_of(device) >= kOpenCl12) {
        listed.push_back({platform, device});
      } else {
        any_older = true;
      }
    }
  }
  if (listed.empty()) {
    throw Error(ENODEV, any_older ? "all OpenCL devices here are older than OpenCL 1.2"
                                  : "the OpenCL drivers here have no device");
  }
  return listed;
}

}  // namespace arrowdevice::opencl
