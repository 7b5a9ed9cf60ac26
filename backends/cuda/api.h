// SPDX-License-Identifier: Apache-2.0
// The part of NVIDIA's driver API that the backend uses. It is declared here so that the backend builds without a CUDA
// toolkit. The names are NVIDIA's. A test compares all declarations with cuda.h if the system has that header.
#pragma once

#include <cstddef>
#include <cstdint>

namespace arrowdevice::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUgreenCtx = struct CUgreenCtx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUmemGenericAllocationHandle = unsigned long long;
using cuuint64_t = uint64_t;

struct CUuuid {
  char bytes[16];
};

// X(name, value)
#define ARROWDEVICE_CUDA_OTHER_RESULTS(X)        \
  X(CUDA_SUCCESS, 0)                             \
  X(CUDA_ERROR_INVALID_VALUE, 1)                 \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)                 \
  X(CUDA_ERROR_NOT_INITIALIZED, 3)               \
  X(CUDA_ERROR_DEINITIALIZED, 4)                 \
  X(CUDA_ERROR_STUB_LIBRARY, 34)                 \
  X(CUDA_ERROR_NO_DEVICE, 100)                   \
  X(CUDA_ERROR_INVALID_DEVICE, 101)              \
  X(CUDA_ERROR_INVALID_CONTEXT, 201)             \
  X(CUDA_ERROR_INVALID_HANDLE, 400)              \
  X(CUDA_ERROR_NOT_FOUND, 500)                   \
  X(CUDA_ERROR_NOT_READY, 600)                   \
  X(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704) \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)               \
  X(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)      \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)  \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)     \
  X(CUDA_ERROR_CAPTURED_EVENT, 907)              \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908) \
  X(CUDA_ERROR_UNKNOWN, 999)

// After one of these, the context or the process cannot use the GPU any more. A test compares the list with the
// comments of cuda.h.
#define ARROWDEVICE_CUDA_FATAL_RESULTS_OF_ALL(X) \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214)           \
  X(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220)        \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)             \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)              \
  X(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709)        \
  X(CUDA_ERROR_ASSERT, 710)                      \
  X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)        \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)         \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)          \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)       \
  X(CUDA_ERROR_INVALID_PC, 718)                  \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)               \
  X(CUDA_ERROR_MPS_CLIENT_TERMINATED, 810)       \
  X(CUDA_ERROR_EXTERNAL_DEVICE, 911)
#define ARROWDEVICE_CUDA_FATAL_RESULTS_SINCE_12_8(X) \
  X(CUDA_ERROR_CONTAINED, 226)                       \
  X(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721)
#define ARROWDEVICE_CUDA_FATAL_RESULTS(X)  \
  ARROWDEVICE_CUDA_FATAL_RESULTS_OF_ALL(X) \
  ARROWDEVICE_CUDA_FATAL_RESULTS_SINCE_12_8(X)

#define ARROWDEVICE_CUDA_RESULTS(X) ARROWDEVICE_CUDA_OTHER_RESULTS(X) ARROWDEVICE_CUDA_FATAL_RESULTS(X)

#define ARROWDEVICE_CUDA_DEVICE_ATTRIBUTES(X)                              \
  X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                            \
  X(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83)                                \
  X(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89)                     \
  X(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100) \
  X(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)          \
  X(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103)  \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)

#define ARROWDEVICE_CUDA_POINTER_ATTRIBUTES(X) \
  X(CU_POINTER_ATTRIBUTE_CONTEXT, 1)           \
  X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)       \
  X(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8)        \
  X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)    \
  X(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 11) \
  X(CU_POINTER_ATTRIBUTE_RANGE_SIZE, 12)       \
  X(CU_POINTER_ATTRIBUTE_MAPPED, 13)           \
  X(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, 18)     \
  X(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, 19)

#define ARROWDEVICE_CUDA_MEMORY_TYPES(X) \
  X(CU_MEMORYTYPE_HOST, 1)               \
  X(CU_MEMORYTYPE_DEVICE, 2)

#define ARROWDEVICE_CUDA_CAPTURE_STATUSES(X) \
  X(CU_STREAM_CAPTURE_STATUS_NONE, 0)        \
  X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)      \
  X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)

#define ARROWDEVICE_CUDA_CAPTURE_MODES(X)   \
  X(CU_STREAM_CAPTURE_MODE_GLOBAL, 0)       \
  X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1) \
  X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)

#define ARROWDEVICE_CUDA_QUERY_RESULTS(X) X(CU_GET_PROC_ADDRESS_SUCCESS, 0)

#define ARROWDEVICE_CUDA_ACCESS_ORDERS(X) X(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, 1)

#define ARROWDEVICE_CUDA_COPY_FLAGS(X) X(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE, 1)

#define ARROWDEVICE_CUDA_POOL_ATTRIBUTES(X)               \
  X(CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, 3) \
  X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)

#define ARROWDEVICE_CUDA_ALLOCATION_TYPES(X) X(CU_MEM_ALLOCATION_TYPE_PINNED, 1)

#define ARROWDEVICE_CUDA_HANDLE_TYPES(X) \
  X(CU_MEM_HANDLE_TYPE_NONE, 0)          \
  X(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1)

#define ARROWDEVICE_CUDA_GRANULARITIES(X) X(CU_MEM_ALLOC_GRANULARITY_MINIMUM, 0)

#define ARROWDEVICE_CUDA_ACCESS_FLAGS(X) X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)

#define ARROWDEVICE_CUDA_LOCATION_TYPES(X) X(CU_MEM_LOCATION_TYPE_DEVICE, 1)

// clang-format off
#define X(name, value) name = (value),
enum CUresult : unsigned { ARROWDEVICE_CUDA_RESULTS(X) };
enum CUdevice_attribute : unsigned { ARROWDEVICE_CUDA_DEVICE_ATTRIBUTES(X) };
enum CUpointer_attribute : unsigned { ARROWDEVICE_CUDA_POINTER_ATTRIBUTES(X) };
enum CUmemorytype : unsigned { ARROWDEVICE_CUDA_MEMORY_TYPES(X) };
enum CUstreamCaptureStatus : unsigned { ARROWDEVICE_CUDA_CAPTURE_STATUSES(X) };
enum CUstreamCaptureMode : unsigned { ARROWDEVICE_CUDA_CAPTURE_MODES(X) };
enum CUdriverProcAddressQueryResult : unsigned { ARROWDEVICE_CUDA_QUERY_RESULTS(X) };
enum CUmemcpySrcAccessOrder : unsigned { ARROWDEVICE_CUDA_ACCESS_ORDERS(X) };
enum CUmemcpyFlags : unsigned { ARROWDEVICE_CUDA_COPY_FLAGS(X) };
enum CUmemPool_attribute : unsigned { ARROWDEVICE_CUDA_POOL_ATTRIBUTES(X) };
enum CUmemAllocationType : unsigned { ARROWDEVICE_CUDA_ALLOCATION_TYPES(X) };
enum CUmemAllocationHandleType : unsigned { ARROWDEVICE_CUDA_HANDLE_TYPES(X) };
enum CUmemAllocationGranularity_flags : unsigned { ARROWDEVICE_CUDA_GRANULARITIES(X) };
enum CUmemAccess_flags : unsigned { ARROWDEVICE_CUDA_ACCESS_FLAGS(X) };
enum CUmemLocationType : unsigned { ARROWDEVICE_CUDA_LOCATION_TYPES(X) };
#undef X
// clang-format on

// X(name, value) for values that cuda.h has as macros or as enumerators of unnamed types.
#define ARROWDEVICE_CUDA_FLAGS(X) \
  X(CU_STREAM_NON_BLOCKING, 1)    \
  X(CU_EVENT_BLOCKING_SYNC, 1)    \
  X(CU_EVENT_DISABLE_TIMING, 2)   \
  X(CU_MEMHOSTALLOC_PORTABLE, 1)  \
  X(CU_MEM_ATTACH_GLOBAL, 1)

#define X(name, value) inline constexpr unsigned name = value;
ARROWDEVICE_CUDA_FLAGS(X)
#undef X

// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, which are casts in cuda.h.
inline constexpr uintptr_t kStreamLegacy = 1;
inline constexpr uintptr_t kStreamPerThread = 2;

struct CUmemLocation {
  CUmemLocationType type;
  int id;
};

struct CUmemPoolProps {
  CUmemAllocationType allocType;
  CUmemAllocationHandleType handleTypes;
  CUmemLocation location;
  void* win32SecurityAttributes;
  unsigned char reserved[64];  // later versions use some of these bytes, where 0 means the default
};

struct CUmemAllocationProp {
  CUmemAllocationType type;
  CUmemAllocationHandleType requestedHandleTypes;
  CUmemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
};

struct CUmemAccessDesc {
  CUmemLocation location;
  CUmemAccess_flags flags;
};

struct CUmemcpyAttributes {
  CUmemcpySrcAccessOrder srcAccessOrder;
  CUmemLocation srcLocHint;
  CUmemLocation dstLocHint;
  unsigned flags;
};

}  // namespace arrowdevice::cuda
