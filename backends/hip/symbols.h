// SPDX-License-Identifier: Apache-2.0
// The entry points of libamdhip64 that the backend uses. This list declares and loads them.
#pragma once

// X(name, version, parameters)
//   version  HIP version that introduced the function, as far as it matters

// Required functions. A runtime without any of them is too old. HIP 5.2 has all of them.
#define ARROWDEVICE_HIP_REQUIRED(X)                                                                         \
  X(hipInit, 1.0, (unsigned flags))                                                                         \
  X(hipRuntimeGetVersion, 1.0, (int* version))                                                              \
  X(hipGetLastError, 1.0, ())                                                                               \
  X(hipGetDeviceCount, 1.0, (int* count))                                                                   \
  X(hipGetDevice, 1.0, (int* device))                                                                       \
  X(hipSetDevice, 1.0, (int device))                                                                        \
  X(hipDeviceGetName, 1.6, (char* name, int size, hipDevice_t device))                                      \
  X(hipDeviceGetUuid, 5.2, (hipUUID * uuid, hipDevice_t device))                                            \
  X(hipDeviceTotalMem, 1.6, (size_t * bytes, hipDevice_t device))                                           \
  X(hipDeviceGetAttribute, 1.0, (int* value, hipDeviceAttribute_t attribute, int device))                   \
  X(hipDeviceCanAccessPeer, 1.0, (int* can, int device, int peer))                                          \
  X(hipMalloc, 1.0, (void** memory, size_t size))                                                           \
  X(hipFree, 1.0, (void* memory))                                                                           \
  X(hipHostMalloc, 1.0, (void** memory, size_t size, unsigned flags))                                       \
  X(hipHostFree, 1.0, (void* memory))                                                                       \
  X(hipMemGetInfo, 1.0, (size_t * free, size_t * total))                                                    \
  X(hipMemGetAddressRange, 1.0, (hipDeviceptr_t * base, size_t * size, hipDeviceptr_t pointer))             \
  X(hipPointerGetAttributes, 1.0, (hipPointerAttribute_t * attributes, const void* pointer))                \
  X(hipStreamCreateWithFlags, 1.0, (hipStream_t * stream, unsigned flags))                                  \
  X(hipStreamDestroy, 1.0, (hipStream_t stream))                                                            \
  X(hipStreamSynchronize, 1.0, (hipStream_t stream))                                                        \
  X(hipStreamWaitEvent, 1.0, (hipStream_t stream, hipEvent_t event, unsigned flags))                        \
  X(hipEventCreateWithFlags, 1.0, (hipEvent_t * event, unsigned flags))                                     \
  X(hipEventDestroy, 1.0, (hipEvent_t event))                                                               \
  X(hipEventRecord, 1.0, (hipEvent_t event, hipStream_t stream))                                            \
  X(hipEventQuery, 1.0, (hipEvent_t event))                                                                 \
  X(hipEventSynchronize, 1.0, (hipEvent_t event))                                                           \
  X(hipMemcpyAsync, 1.0, (void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream)) \
  X(hipMemcpyPeerAsync, 1.0,                                                                                \
    (void* to, int to_device, const void* from, int from_device, size_t size, hipStream_t stream))

// NULL if the runtime does not have them.
#define ARROWDEVICE_HIP_OPTIONAL(X)                                                                                    \
  X(hipDeviceGetPCIBusId, 1.0, (char* id, int size, int device))                                                       \
  X(hipMemPoolCreate, 5.2, (hipMemPool_t * pool, const hipMemPoolProps* properties))                                   \
  X(hipMemPoolDestroy, 5.2, (hipMemPool_t pool))                                                                       \
  X(hipMemPoolSetAttribute, 5.2, (hipMemPool_t pool, hipMemPoolAttr attribute, void* value))                           \
  X(hipMemPoolSetAccess, 5.2, (hipMemPool_t pool, const hipMemAccessDesc* users, size_t count))                        \
  X(hipMemPoolTrimTo, 5.2, (hipMemPool_t pool, size_t kept_bytes))                                                     \
  X(hipMallocFromPoolAsync, 5.2, (void** memory, size_t size, hipMemPool_t pool, hipStream_t stream))                  \
  X(hipFreeAsync, 5.2, (void* memory, hipStream_t stream))                                                             \
  X(hipMemGetAllocationGranularity, 5.2,                                                                               \
    (size_t * bytes, const hipMemAllocationProp* properties, hipMemAllocationGranularity_flags what))                  \
  X(hipMemCreate, 5.2,                                                                                                 \
    (hipMemGenericAllocationHandle_t * memory, size_t size, const hipMemAllocationProp* properties,                    \
     unsigned long long flags))                                                                                        \
  X(hipMemRelease, 5.2, (hipMemGenericAllocationHandle_t memory))                                                      \
  X(hipMemAddressReserve, 5.2, (void** range, size_t size, size_t alignment, void* wanted, unsigned long long flags))  \
  X(hipMemAddressFree, 5.2, (void* range, size_t size))                                                                \
  X(hipMemMap, 5.2,                                                                                                    \
    (void* start, size_t size, size_t offset, hipMemGenericAllocationHandle_t memory, unsigned long long flags))       \
  X(hipMemUnmap, 5.2, (void* start, size_t size))                                                                      \
  X(hipMemSetAccess, 5.2, (void* start, size_t size, const hipMemAccessDesc* users, size_t count))                     \
  X(hipMemExportToShareableHandle, 5.2,                                                                                \
    (void* handle, hipMemGenericAllocationHandle_t memory, hipMemAllocationHandleType type, unsigned long long flags)) \
  X(hipMemImportFromShareableHandle, 5.2,                                                                              \
    (hipMemGenericAllocationHandle_t * memory, void* handle, hipMemAllocationHandleType type))                         \
  X(hipMemsetAsync, 1.0, (void* to, int value, size_t size, hipStream_t stream))                                       \
  X(hipStreamIsCapturing, 5.2, (hipStream_t stream, hipStreamCaptureStatus * status))                                  \
  X(hipThreadExchangeStreamCaptureMode, 5.2, (hipStreamCaptureMode * mode))

// Functions from HIP 5.6 on, which are not in the header of 5.2.
#define ARROWDEVICE_HIP_LATER(X) X(hipStreamGetDevice, 5.6, (hipStream_t stream, hipDevice_t * device))

#define ARROWDEVICE_HIP_SYMBOLS(X) ARROWDEVICE_HIP_REQUIRED(X) ARROWDEVICE_HIP_OPTIONAL(X) ARROWDEVICE_HIP_LATER(X)
