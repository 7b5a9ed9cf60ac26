// SPDX-License-Identifier: Apache-2.0
// Looks up the entry points.
#include <cstdio>
#include <cstring>
#include <iterator>

#include "cuda/calls.h"
#include "cuda/symbols.h"
#include "machine/control.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::violation;

// The exported names come from the list of symbols.
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2

#define X(name, version, suffix, parameters) extern "C" CUresult name parameters;
ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X

namespace {

struct EntryPoint {
  const char* name;
  const char* suffix;
  int version;
  void* function;
};

const EntryPoint kEntryPoints[] = {
#define X(name, version, suffix, parameters) {#name, suffix, version, reinterpret_cast<void*>(name)},
    ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X
};

}  // namespace

EXPORT const char* standin_entry_point(int64_t index) {
  static char names[std::size(kEntryPoints)][64];
  if (index < 0 || index >= static_cast<int64_t>(std::size(kEntryPoints))) return nullptr;
  const EntryPoint& entry = kEntryPoints[index];
  std::snprintf(names[index], sizeof names[index], "%s%s", entry.name, entry.suffix);
  return names[index];
}

#ifndef STANDIN_WITHOUT_GET_PROC_ADDRESS
EXPORT CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult* status) {
  if (flags != 1)
    violation("cuGetProcAddress_v2: flags %llu, which is not the legacy default stream",
              static_cast<unsigned long long>(flags));
  *status = CU_GET_PROC_ADDRESS_SUCCESS;
  *function = nullptr;
  for (const EntryPoint& entry : kEntryPoints) {
    if (std::strcmp(entry.name, symbol) != 0) continue;
    if (entry.version != version) violation("%s is asked for with version %d, not %d", symbol, version, entry.version);
    if (entry.version <= driver_version()) *function = entry.function;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
#endif
