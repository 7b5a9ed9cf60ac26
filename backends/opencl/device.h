// SPDX-License-Identifier: Apache-2.0
// A device: one cl_device_id in one cl_context.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "opencl/handles.h"
#include "opencl/submission.h"

namespace arrowdevice::opencl {

// Properties that are the same in every context.
struct Properties {
  explicit Properties(cl_device_id device);

  std::string name;
  std::string vendor;
  std::array<uint8_t, 16> uuid{};   // zeros without cl_khr_device_uuid
  int64_t total_memory;             // bytes
  int64_t alignment;                // alignment of sub-buffers in bytes
  int64_t largest_buffer;           // bytes
  bool is_cpu;                      // buffers can be host memory
  bool makes_queues_by_properties;  // OpenCL 2.0
  Submission submission;
};

// Holds no references to OpenCL objects. Queues, buffers, events and wrappers of a context hold their own references. A
// foreign context can therefore be destroyed when its owner releases it.
class Device {
 public:
  Device(cl_context context, cl_device_id native, const Properties& properties) noexcept
      : context_(context), native_(native), properties_(properties) {}

  cl_context context() const noexcept { return context_; }
  cl_device_id native() const noexcept { return native_; }
  const Properties& properties() const noexcept { return properties_; }

  Owned<cl_command_queue> make_queue() const;

 private:
  const cl_context context_;
  const cl_device_id native_;
  const Properties& properties_;
};

}  // namespace arrowdevice::opencl
