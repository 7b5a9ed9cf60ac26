// SPDX-License-Identifier: Apache-2.0
#include "opencl/device.h"

#include "opencl/query.h"
#include "opencl/version.h"

namespace arrowdevice::opencl {
namespace {

constexpr int64_t kBitsPerByte = 8;

bool has_extension(cl_device_id device, const std::string& name) {
  const std::string all = " " + ask_device_text(device, CL_DEVICE_EXTENSIONS) + " ";
  return all.find(" " + name + " ") != std::string::npos;
}

std::array<uint8_t, 16> uuid_of(cl_device_id device) {
  if (!has_extension(device, "cl_khr_device_uuid")) return {};
  return ask_device<std::array<uint8_t, 16>>(device, kDeviceUuid);
}

}  // namespace

Properties::Properties(cl_device_id device)
    : name(ask_device_text(device, CL_DEVICE_NAME)),
      vendor(ask_device_text(device, CL_DEVICE_VENDOR)),
      uuid(uuid_of(device)),
      total_memory(static_cast<int64_t>(ask_device<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE))),
      alignment(ask_device<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / kBitsPerByte),
      largest_buffer(static_cast<int64_t>(ask_device<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE))),
      is_cpu((ask_device<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0),
      makes_queues_by_properties(version_of(device) >= kOpenCl20 &&
                                 api().clCreateCommandQueueWithProperties != nullptr),
      submission(choose_submission(device)) {}

Owned<cl_command_queue> Device::make_queue() const {
  cl_int code = CL_SUCCESS;
  if (properties_.makes_queues_by_properties) {
    auto queue =
        Owned<cl_command_queue>::wrap(api().clCreateCommandQueueWithProperties(context_, native_, nullptr, &code));
    check("clCreateCommandQueueWithProperties", code);
    return queue;
  }
  auto queue = Owned<cl_command_queue>::wrap(api().clCreateCommandQueue(context_, native_, 0, &code));
  check("clCreateCommandQueue", code);
  return queue;
}

}  // namespace arrowdevice::opencl
