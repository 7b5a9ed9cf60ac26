// SPDX-License-Identifier: Apache-2.0
// The driver, its devices and contexts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/calls.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::violation;

namespace {

const char* result_name(CUresult result) {
  switch (result) {
#define X(name, value) \
  case name: return #name;
    ARROWDEVICE_CUDA_RESULTS(X)
#undef X
  }
  return nullptr;
}

}  // namespace

EXPORT CUresult cuInit(unsigned flags) {
  BEGIN("cuInit");
  if (flags != 0) violation("cuInit: flags %u", flags);
  if (gpus.devices() == 0) return CUDA_ERROR_NO_DEVICE;
  start();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = driver_version();
  return CUDA_SUCCESS;
}

// Works before cuInit and never fails, because it describes failures.
EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = result_name(error);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  BEGIN("cuDeviceGet");
  check_device(gpus, ordinal, kCall);
  *device = ordinal;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int* count) {
  BEGIN("cuDeviceGetCount");
  *count = gpus.devices();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  BEGIN("cuDeviceGetName");
  check_device(gpus, device, kCall);
  std::snprintf(name, static_cast<size_t>(size), "Stand-in for an NVIDIA GPU %d", device);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  BEGIN("cuDeviceGetUuid");
  check_device(gpus, device, kCall);
  std::memcpy(uuid->bytes, "standin for cuda", sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

#ifndef STANDIN_WITHOUT_GET_PROC_ADDRESS  // which is older than this function
// Gives the UUID of the MIG partition, if the GPU is divided.
EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  BEGIN("cuDeviceGetUuid_v2");
  check_device(gpus, device, kCall);
  std::memcpy(uuid->bytes, std::getenv("STANDIN_MIG") != nullptr ? "standin for mig " : "standin for cuda",
              sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}
#endif

// The id is made up, so sysfs does not have it.
EXPORT CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  BEGIN("cuDeviceGetPCIBusId");
  check_device(gpus, device, kCall);
  std::snprintf(id, static_cast<size_t>(size), "0000:%02X:1F.7", 0xE0u + static_cast<unsigned>(device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  BEGIN("cuDeviceTotalMem_v2");
  check_device(gpus, device, kCall);
  *bytes = gpus.memory();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  BEGIN("cuDeviceGetAttribute");
  check_device(gpus, device, kCall);
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: *value = gpus.managed() > 0; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: *value = gpus.managed() > 1; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: *value = 1; return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
      *value = std::getenv("STANDIN_NO_DESCRIPTORS") == nullptr;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = gpus.memory_pools(); return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES:
      *value = std::getenv("STANDIN_HOST_PAGES") != nullptr;
      return CUDA_SUCCESS;
  }
  violation("%s: attribute %u", kCall, attribute);
}

EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  BEGIN("cuDeviceCanAccessPeer");
  check_device(gpus, device, kCall);
  check_device(gpus, peer, kCall);
  *can = gpus.peers() && device != peer;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  check_device(gpus, device, kCall);
  *context = static_cast<CUcontext>(retain_primary_context(device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRelease");
  check_device(gpus, device, kCall);
  release_primary_context(device, kCall);
  return CUDA_SUCCESS;
}

// The form since CUDA 11.0.
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRelease_v2");
  check_device(gpus, device, kCall);
  release_primary_context(device, kCall);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  BEGIN("cuDevicePrimaryCtxGetState");
  check_device(gpus, device, kCall);
  *flags = 0;
  *is_active = has_primary_context(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

// Creates an application's context and leaves it current. The backend never calls this.
EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  BEGIN("cuCtxCreate_v2");
  check_device(gpus, device, kCall);
  *context = static_cast<CUcontext>(create_context(device));
  push(*context);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  BEGIN("cuCtxDestroy_v2");
  const int device = device_of(context, kCall);
  if (current() == context) pop(kCall);
  destroy_context(context, kCall);
  gpus.destroy_default_stream(device, context);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN("cuCtxPushCurrent_v2");
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  push(context);
  return CUDA_SUCCESS;
}

// A failure reports the state of the driver, but the context is popped.
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = static_cast<CUcontext>(pop("cuCtxPopCurrent_v2"));
  BEGIN("cuCtxPopCurrent_v2");
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  BEGIN("cuCtxGetCurrent");
  *context = static_cast<CUcontext>(current());
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  BEGIN("cuCtxGetDevice");
  *device = current_device(kCall);
  return CUDA_SUCCESS;
}
