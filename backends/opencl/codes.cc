// SPDX-License-Identifier: Apache-2.0
#include "opencl/codes.h"

#include <cerrno>
#include <string_view>

namespace arrowdevice::opencl {
namespace {

const char* name_of(cl_int code) {
  switch (code) {
#define NAMED(code) \
  case code: return #code;
    NAMED(CL_DEVICE_NOT_FOUND)
    NAMED(CL_DEVICE_NOT_AVAILABLE)
    NAMED(CL_COMPILER_NOT_AVAILABLE)
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE)
    NAMED(CL_OUT_OF_RESOURCES)
    NAMED(CL_OUT_OF_HOST_MEMORY)
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE)
    NAMED(CL_MEM_COPY_OVERLAP)
    NAMED(CL_IMAGE_FORMAT_MISMATCH)
    NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED)
    NAMED(CL_BUILD_PROGRAM_FAILURE)
    NAMED(CL_MAP_FAILURE)
    NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET)
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
    NAMED(CL_COMPILE_PROGRAM_FAILURE)
    NAMED(CL_LINKER_NOT_AVAILABLE)
    NAMED(CL_LINK_PROGRAM_FAILURE)
    NAMED(CL_DEVICE_PARTITION_FAILED)
    NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    NAMED(CL_INVALID_VALUE)
    NAMED(CL_INVALID_DEVICE_TYPE)
    NAMED(CL_INVALID_PLATFORM)
    NAMED(CL_INVALID_DEVICE)
    NAMED(CL_INVALID_CONTEXT)
    NAMED(CL_INVALID_QUEUE_PROPERTIES)
    NAMED(CL_INVALID_COMMAND_QUEUE)
    NAMED(CL_INVALID_HOST_PTR)
    NAMED(CL_INVALID_MEM_OBJECT)
    NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
    NAMED(CL_INVALID_IMAGE_SIZE)
    NAMED(CL_INVALID_SAMPLER)
    NAMED(CL_INVALID_BINARY)
    NAMED(CL_INVALID_BUILD_OPTIONS)
    NAMED(CL_INVALID_PROGRAM)
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE)
    NAMED(CL_INVALID_KERNEL_NAME)
    NAMED(CL_INVALID_KERNEL_DEFINITION)
    NAMED(CL_INVALID_KERNEL)
    NAMED(CL_INVALID_ARG_INDEX)
    NAMED(CL_INVALID_ARG_VALUE)
    NAMED(CL_INVALID_ARG_SIZE)
    NAMED(CL_INVALID_KERNEL_ARGS)
    NAMED(CL_INVALID_WORK_DIMENSION)
    NAMED(CL_INVALID_WORK_GROUP_SIZE)
    NAMED(CL_INVALID_WORK_ITEM_SIZE)
    NAMED(CL_INVALID_GLOBAL_OFFSET)
    NAMED(CL_INVALID_EVENT_WAIT_LIST)
    NAMED(CL_INVALID_EVENT)
    NAMED(CL_INVALID_OPERATION)
    NAMED(CL_INVALID_GL_OBJECT)
    NAMED(CL_INVALID_BUFFER_SIZE)
    NAMED(CL_INVALID_MIP_LEVEL)
    NAMED(CL_INVALID_GLOBAL_WORK_SIZE)
    NAMED(CL_INVALID_PROPERTY)
    NAMED(CL_INVALID_IMAGE_DESCRIPTOR)
    NAMED(CL_INVALID_COMPILER_OPTIONS)
    NAMED(CL_INVALID_LINKER_OPTIONS)
    NAMED(CL_INVALID_DEVICE_PARTITION_COUNT)
    NAMED(CL_INVALID_PIPE_SIZE)
    NAMED(CL_INVALID_DEVICE_QUEUE)
    NAMED(CL_INVALID_SPEC_ID)
    NAMED(CL_MAX_SIZE_RESTRICTION_EXCEEDED)
#undef NAMED
    case kPlatformNotFound: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return "unknown code";
  }
}

// This code and all lower codes report an invalid argument.
constexpr cl_int kFirstInvalid = CL_INVALID_VALUE;

int errno_of(std::string_view call, cl_int code) {
  const bool allocates = call == "clCreateBuffer";
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY: return ENOMEM;
    // For an enqueued command, some drivers report a lost device with this code. For an allocation, the code has its
    // usual meaning.
    case CL_OUT_OF_RESOURCES: return allocates ? ENOMEM : EIO;
    // The library never requests an empty buffer, so the size exceeds the device's limit.
    case CL_INVALID_BUFFER_SIZE: return allocates ? ENOMEM : EINVAL;
    case CL_MEM_COPY_OVERLAP:
    case CL_MISALIGNED_SUB_BUFFER_OFFSET: return EINVAL;
    case CL_DEVICE_NOT_FOUND:
    case kPlatformNotFound: return ENODEV;
    default: return code <= kFirstInvalid && code > kPlatformNotFound ? EINVAL : EIO;
  }
}

}  // namespace

std::string code_text(cl_int code) { return format("%s (%d)", name_of(code), code); }

Error failure(const char* call, cl_int code, const std::string& detail) {
  return {errno_of(call, code), call + (": " + code_text(code)) + (detail.empty() ? "" : ", " + detail), {}, code};
}

Error failed_work(cl_int status) {
  return {EIO, "the event's work failed with execution status " + code_text(status), {}, status};
}

}  // namespace arrowdevice::opencl
