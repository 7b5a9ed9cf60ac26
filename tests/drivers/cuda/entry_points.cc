// SPDX-License-Identifier: Apache-2.0
// Looks up the entry points, with the versions of NVIDIA's cudaTypedefs.h.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include "cuda/calls.h"
#include "machine/control.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::violation;

namespace {

// A form of a function, as the header names it: PFN_cuMemAlloc_v3020.
struct Form {
  const char* name;
  int version;
  const char* symbol;  // in the library
};

// Forms that no driver of today would be asked for, such as cuMemAlloc of 2000, are not here.
constexpr Form kForms[] = {
    {"cuInit", 2000, "cuInit"},
    {"cuDriverGetVersion", 2020, "cuDriverGetVersion"},
    {"cuGetErrorName", 6000, "cuGetErrorName"},
    {"cuDeviceGet", 2000, "cuDeviceGet"},
    {"cuDeviceGetCount", 2000, "cuDeviceGetCount"},
    {"cuDeviceGetName", 2000, "cuDeviceGetName"},
    {"cuDeviceGetUuid", 9020, "cuDeviceGetUuid"},
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuDeviceTotalMem", 3020, "cuDeviceTotalMem_v2"},
    {"cuDeviceGetAttribute", 2000, "cuDeviceGetAttribute"},
    {"cuDeviceGetPCIBusId", 4010, "cuDeviceGetPCIBusId"},
    {"cuDeviceCanAccessPeer", 4000, "cuDeviceCanAccessPeer"},
    {"cuDevicePrimaryCtxRetain", 7000, "cuDevicePrimaryCtxRetain"},
    {"cuDevicePrimaryCtxRelease", 7000, "cuDevicePrimaryCtxRelease"},
    {"cuDevicePrimaryCtxRelease", 11000, "cuDevicePrimaryCtxRelease_v2"},
    {"cuDevicePrimaryCtxGetState", 7000, "cuDevicePrimaryCtxGetState"},
    {"cuCtxPushCurrent", 4000, "cuCtxPushCurrent_v2"},
    {"cuCtxPopCurrent", 4000, "cuCtxPopCurrent_v2"},
    {"cuCtxGetDevice", 2000, "cuCtxGetDevice"},
    {"cuMemAlloc", 3020, "cuMemAlloc_v2"},
    {"cuMemFree", 3020, "cuMemFree_v2"},
    {"cuMemHostAlloc", 2020, "cuMemHostAlloc"},
    {"cuMemFreeHost", 2000, "cuMemFreeHost"},
    {"cuMemAllocManaged", 6000, "cuMemAllocManaged"},
    {"cuMemPrefetchAsync", 8000, "cuMemPrefetchAsync"},
    {"cuMemGetInfo", 3020, "cuMemGetInfo_v2"},
    {"cuPointerGetAttributes", 7000, "cuPointerGetAttributes"},
    {"cuStreamCreate", 2000, "cuStreamCreate"},
    {"cuStreamDestroy", 4000, "cuStreamDestroy_v2"},
    {"cuStreamSynchronize", 2000, "cuStreamSynchronize"},
    {"cuStreamWaitEvent", 3020, "cuStreamWaitEvent"},
    {"cuStreamGetCtx", 9020, "cuStreamGetCtx"},
    {"cuCtxRecordEvent", 12050, "cuCtxRecordEvent"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
    {"cuStreamIsCapturing", 10000, "cuStreamIsCapturing"},
    {"cuThreadExchangeStreamCaptureMode", 10010, "cuThreadExchangeStreamCaptureMode"},
    {"cuEventCreate", 2000, "cuEventCreate"},
    {"cuEventDestroy", 4000, "cuEventDestroy_v2"},
    {"cuEventRecord", 2000, "cuEventRecord"},
    {"cuEventQuery", 2000, "cuEventQuery"},
    {"cuEventSynchronize", 2000, "cuEventSynchronize"},
    {"cuMemcpyAsync", 4000, "cuMemcpyAsync"},
    {"cuMemcpyPeerAsync", 4000, "cuMemcpyPeerAsync"},
    {"cuCtxEnablePeerAccess", 4000, "cuCtxEnablePeerAccess"},
    {"cuMemGetAllocationGranularity", 10020, "cuMemGetAllocationGranularity"},
    {"cuMemCreate", 10020, "cuMemCreate"},
    {"cuMemRelease", 10020, "cuMemRelease"},
    {"cuMemAddressReserve", 10020, "cuMemAddressReserve"},
    {"cuMemAddressFree", 10020, "cuMemAddressFree"},
    {"cuMemMap", 10020, "cuMemMap"},
    {"cuMemUnmap", 10020, "cuMemUnmap"},
    {"cuMemSetAccess", 10020, "cuMemSetAccess"},
    {"cuMemExportToShareableHandle", 10020, "cuMemExportToShareableHandle"},
    {"cuMemImportFromShareableHandle", 10020, "cuMemImportFromShareableHandle"},
    {"cuMemRetainAllocationHandle", 11000, "cuMemRetainAllocationHandle"},
    {"cuMemsetD8Async", 3020, "cuMemsetD8Async"},
    {"cuMemPoolCreate", 11020, "cuMemPoolCreate"},
    {"cuMemPoolDestroy", 11020, "cuMemPoolDestroy"},
    {"cuMemPoolSetAttribute", 11020, "cuMemPoolSetAttribute"},
    {"cuMemPoolSetAccess", 11020, "cuMemPoolSetAccess"},
    {"cuMemPoolTrimTo", 11020, "cuMemPoolTrimTo"},
    {"cuMemAllocFromPoolAsync", 11020, "cuMemAllocFromPoolAsync"},
    {"cuMemFreeAsync", 11020, "cuMemFreeAsync"},
    {"cuMemcpyBatchAsync", 12080, "cuMemcpyBatchAsync"},
};

}  // namespace

EXPORT const char* standin_entry_point(int64_t index) {
  return index >= 0 && index < static_cast<int64_t>(std::size(kForms)) ? kForms[index].symbol : nullptr;
}

#ifndef STANDIN_WITHOUT_GET_PROC_ADDRESS
EXPORT CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status) {
  if (flags != 1)
    violation("cuGetProcAddress_v2: flags %llu, which is not the legacy default stream",
              static_cast<unsigned long long>(flags));
  *status = CU_GET_PROC_ADDRESS_SUCCESS;
  *function = nullptr;
  const auto* const form = std::ranges::find_if(
      kForms, [&](const Form& one) { return std::strcmp(one.name, symbol) == 0 && one.version == version; });
  if (form == std::end(kForms)) violation("%s has no form of version %d", symbol, version);
  const char* const without = std::getenv("STANDIN_WITHOUT");
  const bool is_refused = without != nullptr && std::strstr(without, (std::string(symbol) + ",").c_str()) != nullptr;
  if (form->version <= driver_version() && !is_refused) {
    static void* const self = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    *function = ::dlsym(self, form->symbol);
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#endif
