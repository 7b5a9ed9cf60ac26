// SPDX-License-Identifier: Apache-2.0
// Compiles only if the backend's declarations match the installed cuda.h.
#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "cuda/api.h"
#include "cuda/symbols.h"
// The vendor's headers come last, because some of their names are macros. The macro makes them declare the forms of the
// functions that later versions replaced.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): the vendor's name
#include <cuda.h>
#include <cudaTypedefs.h>

#include "real_type.h"

namespace declarations {

namespace ours = arrowdevice::cuda;

#define SAME(type)          \
  template <>               \
  struct Real<ours::type> { \
    using Type = ::type;    \
  };
SAME(CUcontext)
SAME(CUstream)
SAME(CUevent)
SAME(CUmemoryPool)
#if CUDA_VERSION >= 12050
SAME(CUgreenCtx)
#endif

#define SAME_SIZE(type) \
  SAME(type)            \
  static_assert(sizeof(ours::type) == sizeof(::type) && alignof(ours::type) == alignof(::type));
SAME_SIZE(CUuuid)
SAME_SIZE(CUresult)
SAME_SIZE(CUdevice_attribute)
SAME_SIZE(CUpointer_attribute)
SAME_SIZE(CUmemorytype)
SAME_SIZE(CUstreamCaptureStatus)
SAME_SIZE(CUstreamCaptureMode)
SAME_SIZE(CUdriverProcAddressQueryResult)
SAME_SIZE(CUmemLocationType)
SAME_SIZE(CUmemLocation)
SAME_SIZE(CUmemPool_attribute)
SAME_SIZE(CUmemAllocationType)
SAME_SIZE(CUmemAllocationHandleType)
SAME_SIZE(CUmemAccess_flags)
SAME_SIZE(CUmemPoolProps)
SAME_SIZE(CUmemAccessDesc)
SAME_SIZE(CUmemAllocationProp)
SAME_SIZE(CUmemAllocationGranularity_flags)
#if CUDA_VERSION >= 12080
SAME_SIZE(CUmemcpySrcAccessOrder)
SAME_SIZE(CUmemcpyFlags)
SAME_SIZE(CUmemcpyAttributes)
#endif

static_assert(std::is_same_v<ours::CUdevice, ::CUdevice> && std::is_same_v<ours::CUdeviceptr, ::CUdeviceptr> &&
              std::is_same_v<ours::cuuint64_t, ::cuuint64_t> &&
              std::is_same_v<ours::CUmemGenericAllocationHandle, ::CUmemGenericAllocationHandle>);

#define SAME_PLACE(type, member)                                            \
  static_assert(offsetof(ours::type, member) == offsetof(::type, member) && \
                sizeof(ours::type::member) == sizeof(::type::member));
SAME_PLACE(CUmemLocation, type)
SAME_PLACE(CUmemLocation, id)
SAME_PLACE(CUmemPoolProps, allocType)
SAME_PLACE(CUmemPoolProps, handleTypes)
SAME_PLACE(CUmemPoolProps, location)
SAME_PLACE(CUmemPoolProps, win32SecurityAttributes)
SAME_PLACE(CUmemAllocationProp, type)
SAME_PLACE(CUmemAllocationProp, requestedHandleTypes)
SAME_PLACE(CUmemAllocationProp, location)
SAME_PLACE(CUmemAllocationProp, win32HandleMetaData)
SAME_PLACE(CUmemAllocationProp, allocFlags)
SAME_PLACE(CUmemAccessDesc, location)
SAME_PLACE(CUmemAccessDesc, flags)
#if CUDA_VERSION >= 12080
SAME_PLACE(CUmemcpyAttributes, srcAccessOrder)
SAME_PLACE(CUmemcpyAttributes, srcLocHint)
SAME_PLACE(CUmemcpyAttributes, dstLocHint)
SAME_PLACE(CUmemcpyAttributes, flags)
#endif

}  // namespace declarations

// Names outside of any namespace are the vendor's enumerators or macros.
#define X(name, value) static_assert(static_cast<long long>(name) == (value));
ARROWDEVICE_CUDA_OTHER_RESULTS(X)
ARROWDEVICE_CUDA_FATAL_RESULTS_OF_ALL(X)
#if CUDA_VERSION >= 12080
ARROWDEVICE_CUDA_FATAL_RESULTS_SINCE_12_8(X)
#endif
ARROWDEVICE_CUDA_DEVICE_ATTRIBUTES(X)
ARROWDEVICE_CUDA_POINTER_ATTRIBUTES(X)
ARROWDEVICE_CUDA_MEMORY_TYPES(X)
ARROWDEVICE_CUDA_CAPTURE_STATUSES(X)
ARROWDEVICE_CUDA_CAPTURE_MODES(X)
ARROWDEVICE_CUDA_QUERY_RESULTS(X)
ARROWDEVICE_CUDA_LOCATION_TYPES(X)
ARROWDEVICE_CUDA_POOL_ATTRIBUTES(X)
ARROWDEVICE_CUDA_ALLOCATION_TYPES(X)
ARROWDEVICE_CUDA_HANDLE_TYPES(X)
ARROWDEVICE_CUDA_GRANULARITIES(X)
ARROWDEVICE_CUDA_ACCESS_FLAGS(X)
#if CUDA_VERSION >= 12080
ARROWDEVICE_CUDA_ACCESS_ORDERS(X)
ARROWDEVICE_CUDA_COPY_FLAGS(X)
#endif
ARROWDEVICE_CUDA_FLAGS(X)
#undef X

namespace arrowdevice::cuda {

// The vendor names the type of each function by its version.
#define X(name, version, suffix, parameters)   \
  using name##_function = CUresult parameters; \
  static_assert(std::is_same_v<declarations::Real<name##_function>::Type*, ::PFN_##name##_v##version>, #name);
ARROWDEVICE_CUDA_REQUIRED(X)
ARROWDEVICE_CUDA_SINCE_10_2(X)
ARROWDEVICE_CUDA_SINCE_11_0(X)
ARROWDEVICE_CUDA_SINCE_11_2(X)
#if CUDA_VERSION >= 12050
ARROWDEVICE_CUDA_SINCE_12_5(X)
#endif
#if CUDA_VERSION >= 12080
ARROWDEVICE_CUDA_SINCE_12_8(X)
#endif
#undef X
// The vendor's name of this type has no `_v2`, but the version.
#if CUDA_VERSION >= 12050
#define X(name, version, suffix, parameters)   \
  using name##_function = CUresult parameters; \
  static_assert(std::is_same_v<declarations::Real<name##_function>::Type*, ::PFN_cuStreamGetCtx_v##version>, #name);
ARROWDEVICE_CUDA_SECOND_FORMS(X)
#undef X
#endif

}  // namespace arrowdevice::cuda

int main() {
  const bool same_streams = arrowdevice::cuda::kStreamLegacy == reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY) &&
                            arrowdevice::cuda::kStreamPerThread == reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD);
#define X(name, value) std::printf("fatal %d %s\n", value, #name);
  ARROWDEVICE_CUDA_FATAL_RESULTS(X)
#undef X
  std::printf("compared with cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  return same_streams ? 0 : 1;
}
