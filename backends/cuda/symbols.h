// SPDX-License-Identifier: Apache-2.0
// The entry points of libcuda.so.1 that the backend uses. This list declares and loads them.
#pragma once

#include <string>
#include <string_view>

namespace arrowdevice::cuda {

// Returns the name of a function for cuGetProcAddress, which selects one of its forms by the version. A name in the
// lists below ends with "_v2" if another form of the function is there too.
inline std::string entry_name(std::string name) {
  constexpr std::string_view kSecond = "_v2";
  if (name.ends_with(kSecond)) name.resize(name.size() - kSecond.size());
  return name;
}

}  // namespace arrowdevice::cuda

// X(name, version, suffix, parameters)
//   version  CUDA version that introduced this form of the function; the backend requests the function at this version
//   suffix   suffix of the exported symbol, for drivers without cuGetProcAddress

// Required functions. A driver without any of them is too old. CUDA 10.2 has all of them.
#define ARROWDEVICE_CUDA_REQUIRED(X)                                                             \
  X(cuInit, 2000, "", (unsigned flags))                                                          \
  X(cuDriverGetVersion, 2020, "", (int* version))                                                \
  X(cuGetErrorName, 6000, "", (CUresult error, const char** name))                               \
  X(cuDeviceGet, 2000, "", (CUdevice * device, int ordinal))                                     \
  X(cuDeviceGetCount, 2000, "", (int* count))                                                    \
  X(cuDeviceGetName, 2000, "", (char* name, int size, CUdevice device))                          \
  X(cuDeviceGetAttribute, 2000, "", (int* value, CUdevice_attribute attribute, CUdevice device)) \
  X(cuDevicePrimaryCtxRetain, 7000, "", (CUcontext * context, CUdevice device))                  \
  X(cuCtxPushCurrent, 4000, "_v2", (CUcontext context))                                          \
  X(cuCtxPopCurrent, 4000, "_v2", (CUcontext * context))                                         \
  X(cuCtxGetDevice, 2000, "", (CUdevice * device))                                               \
  X(cuMemAlloc, 3020, "_v2", (CUdeviceptr * memory, size_t size))                                \
  X(cuMemFree, 3020, "_v2", (CUdeviceptr memory))                                                \
  X(cuMemHostAlloc, 2020, "", (void** memory, size_t size, unsigned flags))                      \
  X(cuMemFreeHost, 2000, "", (void* memory))                                                     \
  X(cuPointerGetAttributes, 7000, "",                                                            \
    (unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr pointer))       \
  X(cuStreamCreate, 2000, "", (CUstream * stream, unsigned flags))                               \
  X(cuStreamDestroy, 4000, "_v2", (CUstream stream))                                             \
  X(cuStreamSynchronize, 2000, "", (CUstream stream))                                            \
  X(cuStreamWaitEvent, 3020, "", (CUstream stream, CUevent event, unsigned flags))               \
  X(cuEventCreate, 2000, "", (CUevent * event, unsigned flags))                                  \
  X(cuEventDestroy, 4000, "_v2", (CUevent event))                                                \
  X(cuEventRecord, 2000, "", (CUevent event, CUstream stream))                                   \
  X(cuEventQuery, 2000, "", (CUevent event))                                                     \
  X(cuEventSynchronize, 2000, "", (CUevent event))                                               \
  X(cuMemcpyAsync, 4000, "", (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))

// Optional functions that CUDA 10.2 has too. If a driver refuses one, it is NULL, and the backend does without.
#define ARROWDEVICE_CUDA_SINCE_10_2(X)                                                                              \
  X(cuDeviceGetUuid, 9020, "", (CUuuid * uuid, CUdevice device))                                                    \
  X(cuDeviceTotalMem, 3020, "_v2", (size_t * bytes, CUdevice device))                                               \
  X(cuDeviceGetPCIBusId, 4010, "", (char* id, int size, CUdevice device))                                           \
  X(cuDeviceCanAccessPeer, 4000, "", (int* can, CUdevice device, CUdevice peer))                                    \
  X(cuDevicePrimaryCtxRelease, 7000, "", (CUdevice device))                                                         \
  X(cuDevicePrimaryCtxGetState, 7000, "", (CUdevice device, unsigned* flags, int* is_active))                       \
  X(cuMemAllocManaged, 6000, "", (CUdeviceptr * memory, size_t size, unsigned flags))                               \
  X(cuMemPrefetchAsync, 8000, "", (CUdeviceptr memory, size_t size, CUdevice to, CUstream stream))                  \
  X(cuMemGetInfo, 3020, "_v2", (size_t * free, size_t * total))                                                     \
  X(cuStreamGetCtx, 9020, "", (CUstream stream, CUcontext * context))                                               \
  X(cuStreamIsCapturing, 10000, "", (CUstream stream, CUstreamCaptureStatus * status))                              \
  X(cuThreadExchangeStreamCaptureMode, 10010, "", (CUstreamCaptureMode * mode))                                     \
  X(cuCtxEnablePeerAccess, 4000, "", (CUcontext peer, unsigned flags))                                              \
  X(cuMemGetAllocationGranularity, 10020, "",                                                                       \
    (size_t * bytes, const CUmemAllocationProp* properties, CUmemAllocationGranularity_flags what))                 \
  X(cuMemCreate, 10020, "",                                                                                         \
    (CUmemGenericAllocationHandle * memory, size_t size, const CUmemAllocationProp* properties,                     \
     unsigned long long flags))                                                                                     \
  X(cuMemRelease, 10020, "", (CUmemGenericAllocationHandle memory))                                                 \
  X(cuMemAddressReserve, 10020, "",                                                                                 \
    (CUdeviceptr * range, size_t size, size_t alignment, CUdeviceptr wanted, unsigned long long flags))             \
  X(cuMemAddressFree, 10020, "", (CUdeviceptr range, size_t size))                                                  \
  X(cuMemMap, 10020, "",                                                                                            \
    (CUdeviceptr start, size_t size, size_t offset, CUmemGenericAllocationHandle memory, unsigned long long flags)) \
  X(cuMemUnmap, 10020, "", (CUdeviceptr start, size_t size))                                                        \
  X(cuMemSetAccess, 10020, "", (CUdeviceptr start, size_t size, const CUmemAccessDesc* users, size_t count))        \
  X(cuMemExportToShareableHandle, 10020, "",                                                                        \
    (void* handle, CUmemGenericAllocationHandle memory, CUmemAllocationHandleType type, unsigned long long flags))  \
  X(cuMemImportFromShareableHandle, 10020, "",                                                                      \
    (CUmemGenericAllocationHandle * memory, void* handle, CUmemAllocationHandleType type))                          \
  X(cuMemsetD8Async, 3020, "", (CUdeviceptr to, unsigned char value, size_t size, CUstream stream))                 \
  X(cuMemcpyPeerAsync, 4000, "",                                                                                    \
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t size, CUstream stream))

// Newer forms of these functions, with the same parameters. The backend asks for these first.
//   cuDeviceGetUuid: the older form gives the UUID of the whole GPU for each of its MIG partitions
#define ARROWDEVICE_CUDA_NEWER_FORMS(X) \
  X(cuDeviceGetUuid, 11040, "_v2")      \
  X(cuDevicePrimaryCtxRelease, 11000, "_v2")

// Optional functions, by the CUDA version that introduced them. NULL if the driver does not have them.
#define ARROWDEVICE_CUDA_SINCE_11_0(X) \
  X(cuMemRetainAllocationHandle, 11000, "", (CUmemGenericAllocationHandle * memory, void* address))
#define ARROWDEVICE_CUDA_SINCE_11_2(X)                                                                           \
  X(cuMemPoolCreate, 11020, "", (CUmemoryPool * pool, const CUmemPoolProps* properties))                         \
  X(cuMemPoolDestroy, 11020, "", (CUmemoryPool pool))                                                            \
  X(cuMemPoolSetAttribute, 11020, "", (CUmemoryPool pool, CUmemPool_attribute attribute, void* value))           \
  X(cuMemPoolSetAccess, 11020, "", (CUmemoryPool pool, const CUmemAccessDesc* users, size_t count))              \
  X(cuMemPoolTrimTo, 11020, "", (CUmemoryPool pool, size_t kept_bytes))                                          \
  X(cuMemAllocFromPoolAsync, 11020, "", (CUdeviceptr * memory, size_t size, CUmemoryPool pool, CUstream stream)) \
  X(cuMemFreeAsync, 11020, "", (CUdeviceptr memory, CUstream stream))
#define ARROWDEVICE_CUDA_SINCE_12_5(X) X(cuCtxRecordEvent, 12050, "", (CUcontext context, CUevent event))
// A second form of a function, with other parameters.
#define ARROWDEVICE_CUDA_SECOND_FORMS(X) \
  X(cuStreamGetCtx_v2, 12050, "_v2", (CUstream stream, CUcontext * context, CUgreenCtx * green))
#define ARROWDEVICE_CUDA_SINCE_12_8(X)                                                                    \
  X(cuMemcpyBatchAsync, 12080, "",                                                                        \
    (CUdeviceptr * to, CUdeviceptr * from, size_t * sizes, size_t count, CUmemcpyAttributes * attributes, \
     size_t * attribute_starts, size_t attribute_count, size_t * failed, CUstream stream))
#define ARROWDEVICE_CUDA_OPTIONAL(X) \
  ARROWDEVICE_CUDA_SINCE_10_2(X)     \
  ARROWDEVICE_CUDA_SINCE_11_0(X)     \
  ARROWDEVICE_CUDA_SINCE_11_2(X)     \
  ARROWDEVICE_CUDA_SINCE_12_5(X) ARROWDEVICE_CUDA_SECOND_FORMS(X) ARROWDEVICE_CUDA_SINCE_12_8(X)

#define ARROWDEVICE_CUDA_SYMBOLS(X) ARROWDEVICE_CUDA_REQUIRED(X) ARROWDEVICE_CUDA_OPTIONAL(X)
