// SPDX-License-Identifier: Apache-2.0
// The part of AMD's HIP runtime API that the backend uses. It is declared here so that the backend builds without ROCm.
// The names are AMD's. A test compares all declarations with hip_runtime_api.h if the system has that header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrowdevice::hip {

using hipDevice_t = int;
using hipDeviceptr_t = void*;
using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipMemPool_t = struct ihipMemPoolHandle_t*;
using hipMemGenericAllocationHandle_t = struct ihipMemGenericAllocationHandle*;

struct hipUUID {
  char bytes[16];
};

// X(name, value)
#define ARROWDEVICE_HIP_ERRORS(X)          \
  X(hipSuccess, 0)                         \
  X(hipErrorInvalidValue, 1)               \
  X(hipErrorOutOfMemory, 2)                \
  X(hipErrorNotInitialized, 3)             \
  X(hipErrorDeinitialized, 4)              \
  X(hipErrorInvalidDevicePointer, 17)      \
  X(hipErrorInsufficientDriver, 35)        \
  X(hipErrorNoDevice, 100)                 \
  X(hipErrorInvalidDevice, 101)            \
  X(hipErrorECCNotCorrectable, 214)        \
  X(hipErrorInvalidHandle, 400)            \
  X(hipErrorNotReady, 600)                 \
  X(hipErrorIllegalAddress, 700)           \
  X(hipErrorLaunchTimeOut, 702)            \
  X(hipErrorContextIsDestroyed, 709)       \
  X(hipErrorAssert, 710)                   \
  X(hipErrorLaunchFailure, 719)            \
  X(hipErrorNotSupported, 801)             \
  X(hipErrorStreamCaptureUnsupported, 900) \
  X(hipErrorStreamCaptureImplicit, 906)    \
  X(hipErrorCapturedEvent, 907)            \
  X(hipErrorUnknown, 999)

#define ARROWDEVICE_HIP_DEVICE_ATTRIBUTES(X) X(hipDeviceAttributeMemoryPoolsSupported, 88)
// HIP 5.7 has it, and 5.2 does not.
#define ARROWDEVICE_HIP_LATER_ATTRIBUTES(X) X(hipDeviceAttributeVirtualMemoryManagementSupported, 89)

#define ARROWDEVICE_HIP_CAPTURE_STATUSES(X) \
  X(hipStreamCaptureStatusNone, 0)          \
  X(hipStreamCaptureStatusActive, 1)        \
  X(hipStreamCaptureStatusInvalidated, 2)

#define ARROWDEVICE_HIP_CAPTURE_MODES(X) \
  X(hipStreamCaptureModeGlobal, 0)       \
  X(hipStreamCaptureModeThreadLocal, 1)  \
  X(hipStreamCaptureModeRelaxed, 2)

#define ARROWDEVICE_HIP_MEMCPY_KINDS(X) X(hipMemcpyDefault, 4)

#define ARROWDEVICE_HIP_POOL_ATTRIBUTES(X)       \
  X(hipMemPoolReuseAllowInternalDependencies, 3) \
  X(hipMemPoolAttrReleaseThreshold, 4)

#define ARROWDEVICE_HIP_ALLOCATION_TYPES(X) X(hipMemAllocationTypePinned, 1)

#define ARROWDEVICE_HIP_HANDLE_TYPES(X) \
  X(hipMemHandleTypeNone, 0)            \
  X(hipMemHandleTypePosixFileDescriptor, 1)

#define ARROWDEVICE_HIP_GRANULARITIES(X) X(hipMemAllocationGranularityMinimum, 0)

#define ARROWDEVICE_HIP_LOCATION_TYPES(X) X(hipMemLocationTypeDevice, 1)

#define ARROWDEVICE_HIP_ACCESS_FLAGS(X) X(hipMemAccessFlagsProtReadWrite, 3)

// The values of HIP 5. HIP 6 has a different enumeration with the same name, see pointer_kind.h.
#define ARROWDEVICE_HIP_MEMORY_TYPES(X) \
  X(hipMemoryTypeHost, 0)               \
  X(hipMemoryTypeDevice, 1)

// clang-format off
#define X(name, value) name = (value),
enum hipError_t : unsigned { ARROWDEVICE_HIP_ERRORS(X) };
enum hipDeviceAttribute_t : unsigned {
  ARROWDEVICE_HIP_DEVICE_ATTRIBUTES(X)
  ARROWDEVICE_HIP_LATER_ATTRIBUTES(X)
};
enum hipStreamCaptureStatus : unsigned { ARROWDEVICE_HIP_CAPTURE_STATUSES(X) };
enum hipStreamCaptureMode : unsigned { ARROWDEVICE_HIP_CAPTURE_MODES(X) };
enum hipMemcpyKind : unsigned { ARROWDEVICE_HIP_MEMCPY_KINDS(X) };
enum hipMemPoolAttr : unsigned { ARROWDEVICE_HIP_POOL_ATTRIBUTES(X) };
enum hipMemAllocationType : unsigned { ARROWDEVICE_HIP_ALLOCATION_TYPES(X) };
enum hipMemAllocationHandleType : unsigned { ARROWDEVICE_HIP_HANDLE_TYPES(X) };
enum hipMemLocationType : unsigned { ARROWDEVICE_HIP_LOCATION_TYPES(X) };
enum hipMemAllocationGranularity_flags : unsigned { ARROWDEVICE_HIP_GRANULARITIES(X) };
enum hipMemAccessFlags : unsigned { ARROWDEVICE_HIP_ACCESS_FLAGS(X) };
#undef X
// clang-format on

// X(name, value) for macros of the header.
#define ARROWDEVICE_HIP_FLAGS(X) \
  X(hipStreamNonBlocking, 1)     \
  X(hipEventBlockingSync, 1)     \
  X(hipEventDisableTiming, 2)    \
  X(hipHostMallocPortable, 1)

#define X(name, value) inline constexpr unsigned name = value;
ARROWDEVICE_HIP_FLAGS(X)
#undef X

// hipStreamLegacy, which exists from HIP 6 on, and hipStreamPerThread. Both are casts in the header.
inline constexpr uintptr_t kStreamLegacy = 1;
inline constexpr uintptr_t kStreamPerThread = 2;

struct hipMemLocation {
  hipMemLocationType type;
  int id;
};

struct hipMemPoolProps {
  hipMemAllocationType allocType;
  hipMemAllocationHandleType handleTypes;
  hipMemLocation location;
  void* win32SecurityAttributes;
  unsigned char reserved[64];  // later versions use some of these bytes, where 0 means the default
};

// The layout of HIP 5.7 and newer. That of 5.2 is another.
struct hipMemAllocationProp {
  hipMemAllocationType type;
  hipMemAllocationHandleType requestedHandleType;
  hipMemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
};

struct hipMemAccessDesc {
  hipMemLocation location;
  hipMemAccessFlags flags;
};

// The layout is the same in all versions. The values of the first member differ.
struct hipPointerAttribute_t {
  unsigned memoryType;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
};

}  // namespace arrowdevice::hip
