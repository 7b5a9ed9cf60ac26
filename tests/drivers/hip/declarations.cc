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

static_assert(std::is_same_v<ours::hipDevice_t, ::hipDevice_t> &&
              std::is_same_v<ours::hipDeviceptr_t, ::hipDeviceptr_t>);

#define SAME_PLACE(member)                                                                                    \
  static_assert(offsetof(ours::hipPointerAttribute_t, member) == offsetof(::hipPointerAttribute_t, member) && \
                sizeof(ours::hipPointerAttribute_t::member) == sizeof(::hipPointerAttribute_t::member));
#if HIP_VERSION_MAJOR < 6
SAME_PLACE(memoryType)
#endif
SAME_PLACE(device)
SAME_PLACE(devicePointer)
SAME_PLACE(hostPointer)
SAME_PLACE(isManaged)
SAME_PLACE(allocationFlags)

}  // namespace declarations

// Names outside of any namespace are the vendor's enumerators or macros.
#define X(name, value) static_assert(static_cast<long long>(name) == (value));
ARROWDEVICE_HIP_ERRORS(X)
ARROWDEVICE_HIP_DEVICE_ATTRIBUTES(X)
ARROWDEVICE_HIP_MEMCPY_KINDS(X)
ARROWDEVICE_HIP_CAPTURE_STATUSES(X)
ARROWDEVICE_HIP_CAPTURE_MODES(X)
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
