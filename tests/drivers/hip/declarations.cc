// SPDX-License-Identifier: Apache-2.0
// Compiles only if the backend's declarations match the installed hip_runtime_api.h.
#include <cstddef>
#include <cstdio>

#include "hip/api.h"
#include "hip/symbols.h"
// The vendor's headers come last, because some of their names are macros.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "real_type.h"

namespace declarations {

namespace ours = arrowdevice::hip;

#define SAME(type)          \
  template <>               \
  struct Real<ours::type> { \
    using Type = ::type;    \
  };
SAME(hipStream_t)
SAME(hipEvent_t)
SAME(hipMemPool_t)
SAME(hipMemGenericAllocationHandle_t)

#define SAME_SIZE(type) \
  SAME(type)            \
  static_assert(sizeof(ours::type) == sizeof(::type) && alignof(ours::type) == alignof(::type));
SAME_SIZE(hipUUID)
SAME_SIZE(hipError_t)
SAME_SIZE(hipDeviceAttribute_t)
SAME_SIZE(hipMemcpyKind)
SAME_SIZE(hipStreamCaptureStatus)
SAME_SIZE(hipStreamCaptureMode)
SAME_SIZE(hipPointerAttribute_t)
SAME_SIZE(hipMemPoolAttr)
SAME_SIZE(hipMemAllocationType)
SAME_SIZE(hipMemAllocationHandleType)
SAME_SIZE(hipMemLocationType)
SAME_SIZE(hipMemAccessFlags)
SAME_SIZE(hipMemLocation)
SAME_SIZE(hipMemPoolProps)
SAME_SIZE(hipMemAccessDesc)
SAME_SIZE(hipMemAllocationGranularity_flags)

static_assert(std::is_same_v<ours::hipDevice_t, ::hipDevice_t> &&
              std::is_same_v<ours::hipDeviceptr_t, ::hipDeviceptr_t>);

#define SAME_PLACE(type, member)                                            \
  static_assert(offsetof(ours::type, member) == offsetof(::type, member) && \
                sizeof(ours::type::member) == sizeof(::type::member));
#if HIP_VERSION_MAJOR < 6
SAME_PLACE(hipPointerAttribute_t, memoryType)
#endif
SAME_PLACE(hipPointerAttribute_t, device)
SAME_PLACE(hipPointerAttribute_t, devicePointer)
SAME_PLACE(hipPointerAttribute_t, hostPointer)
SAME_PLACE(hipPointerAttribute_t, isManaged)
SAME_PLACE(hipPointerAttribute_t, allocationFlags)
SAME_PLACE(hipMemLocation, type)
SAME_PLACE(hipMemLocation, id)
SAME_PLACE(hipMemPoolProps, allocType)
SAME_PLACE(hipMemPoolProps, handleTypes)
SAME_PLACE(hipMemPoolProps, location)
SAME_PLACE(hipMemPoolProps, win32SecurityAttributes)
SAME_PLACE(hipMemAccessDesc, location)
SAME_PLACE(hipMemAccessDesc, flags)
#if HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 6
SAME_SIZE(hipMemAllocationProp)
SAME_PLACE(hipMemAllocationProp, type)
SAME_PLACE(hipMemAllocationProp, requestedHandleType)
SAME_PLACE(hipMemAllocationProp, location)
SAME_PLACE(hipMemAllocationProp, win32HandleMetaData)
SAME_PLACE(hipMemAllocationProp, allocFlags)
#else
SAME(hipMemAllocationProp)
#endif

}  // namespace declarations

// Names outside of any namespace are the vendor's enumerators or macros.
#define X(name, value) static_assert(static_cast<long long>(name) == (value));
ARROWDEVICE_HIP_ERRORS(X)
ARROWDEVICE_HIP_DEVICE_ATTRIBUTES(X)
#if HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 6
ARROWDEVICE_HIP_LATER_ATTRIBUTES(X)
#endif
ARROWDEVICE_HIP_MEMCPY_KINDS(X)
ARROWDEVICE_HIP_CAPTURE_STATUSES(X)
ARROWDEVICE_HIP_CAPTURE_MODES(X)
ARROWDEVICE_HIP_POOL_ATTRIBUTES(X)
ARROWDEVICE_HIP_ALLOCATION_TYPES(X)
ARROWDEVICE_HIP_HANDLE_TYPES(X)
ARROWDEVICE_HIP_GRANULARITIES(X)
ARROWDEVICE_HIP_LOCATION_TYPES(X)
ARROWDEVICE_HIP_ACCESS_FLAGS(X)
ARROWDEVICE_HIP_FLAGS(X)
#if HIP_VERSION_MAJOR < 6
ARROWDEVICE_HIP_MEMORY_TYPES(X)
#else
static_assert(hipMemoryTypeUnregistered == 0 && hipMemoryTypeHost == 1 && hipMemoryTypeDevice == 2 &&
              hipMemoryTypeManaged == 3 && hipMemoryTypeUnified == 11);
#endif
#undef X

namespace arrowdevice::hip {

// The cast selects a function, because some names are overloaded in C++.
#define X(name, version, parameters)             \
  using name##_function = hipError_t parameters; \
  [[maybe_unused]] constexpr auto name##_is_there = static_cast<declarations::Real<name##_function>::Type*>(&::name);
ARROWDEVICE_HIP_REQUIRED(X)
ARROWDEVICE_HIP_OPTIONAL(X)
#if HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 5
ARROWDEVICE_HIP_LATER(X)
#endif
#undef X

}  // namespace arrowdevice::hip

int main() {
  const bool same_stream = arrowdevice::hip::kStreamPerThread == reinterpret_cast<uintptr_t>(hipStreamPerThread);
  std::printf("compared with the headers of HIP %d.%d\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
  return same_stream ? 0 : 1;
}
