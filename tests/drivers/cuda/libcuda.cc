// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcuda.so.1: the entry points that the backend uses, and no more.
//
//   STANDIN_DRIVER_VERSION   12080 for CUDA 12.8; newer entry points are not there
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "cuda/api.h"
#include "cuda/contexts.h"
#include "cuda/symbols.h"
#include "machine/control.h"
#include "machine/machine.h"
#include "machine/violation.h"

using namespace arrowdevice::cuda;
using standin::Kind;
using standin::Machine;
using standin::violation;
using standin::cuda::check_context;
using standin::cuda::context_of;
using standin::cuda::current;
using standin::cuda::current_device;
using standin::cuda::gone;
using standin::cuda::made_here;

#define EXPORT extern "C" __attribute__((visibility("default")))

// Each entry point begins with it: the call is counted, fails if it was asked to, and `gpus` are at hand.
#define BEGIN(call)                                                   \
  constexpr const char* kCall = call;                                 \
  int failing = 0;                                                    \
  [[maybe_unused]] Machine& gpus = standin::machine(kCall, &failing); \
  if (const CUresult early = begin(kCall, failing)) return early

// What takes something back tells of failures of earlier work too, and has taken it back all the same.
#define BEGIN_GIVING_BACK(call)                      \
  constexpr const char* kCall = call;                \
  int failing = 0;                                   \
  Machine& gpus = standin::machine(kCall, &failing); \
  const CUresult late = begin(kCall, failing);       \
  if (sticky != 0) return late

namespace {

constexpr int kDefaultVersion = 12080;

std::atomic<bool> started{false};
std::atomic<int> sticky{0};

int driver_version() {
  const char* text = std::getenv("STANDIN_DRIVER_VERSION");
  return text != nullptr ? std::atoi(text) : kDefaultVersion;
}

// A context that is gone takes no other with it.
bool is_sticky(int code) {
  const bool is_of_others = code == 701 || code == CUDA_ERROR_CONTEXT_IS_DESTROYED || code == 712 || code == 713;
  return code == 214 || code == 220 || (code >= 700 && code <= 719 && !is_of_others);
}

// An error that a GPU does not recover from is what every call gives from then on.
CUresult begin(const char* call, int failing) {
  if (!started && std::strcmp(call, "cuInit") != 0 && std::strcmp(call, "cuDriverGetVersion") != 0) {
    violation("%s is called before cuInit", call);
  }
  if (sticky != 0) return static_cast<CUresult>(sticky.load());
  if (is_sticky(failing)) {
    sticky = failing;
    standin::machine().lose();
  }
  return static_cast<CUresult>(failing);
}

void check_device(const Machine& gpus, CUdevice device, const char* call) {
  if (device < 0 || device >= gpus.devices()) violation("%s: there is no device %d", call, device);
}

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// The default streams belong to the context that is current.
void* stream_of(Machine& gpus, CUstream stream, const char* call) {
  const int device = current_device(call);
  if (number(stream) <= kStreamPerThread) {
    return gpus.default_stream(device, current());
  }
  if (gpus.device_of_stream(stream) != device) {
    violation("%s: the stream is of GPU %d, and GPU %d is current", call, gpus.device_of_stream(stream), device);
  }
  check_context(number(stream), current(), call);
  return stream;
}

// Device memory at both ends of a copy must be of the contexts that are named, or that is current.
void check_ends(const Machine& gpus, CUdeviceptr to, void* to_context, CUdeviceptr from, void* from_context,
                const char* call) {
  const auto target = gpus.find(to);
  const auto source = gpus.find(from);
  if (!target || !source || target->kind != Kind::kDevice || source->kind != Kind::kDevice) return;
  check_context(target->start, to_context, call);
  check_context(source->start, from_context, call);
}

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

// -- the driver and its devices

EXPORT CUresult cuInit(unsigned flags) {
  BEGIN("cuInit");
  if (flags != 0) violation("cuInit: flags %u", flags);
  if (gpus.devices() == 0) return CUDA_ERROR_NO_DEVICE;
  started = true;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int* version) {
  BEGIN("cuDriverGetVersion");
  *version = driver_version();
  return CUDA_SUCCESS;
}

// Also before cuInit, and never asked to fail: it is what tells of failures.
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
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = gpus.memory_pools(); return CUDA_SUCCESS;
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

// -- contexts

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRetain");
  check_device(gpus, device, kCall);
  *context = static_cast<CUcontext>(standin::cuda::retain_primary_context(device));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  BEGIN("cuDevicePrimaryCtxRelease");
  check_device(gpus, device, kCall);
  standin::cuda::release_primary_context(device, kCall);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  BEGIN("cuDevicePrimaryCtxGetState");
  check_device(gpus, device, kCall);
  *flags = 0;
  *is_active = standin::cuda::has_primary_context(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

// An application's, which it leaves current. The backend calls neither.
EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  BEGIN("cuCtxCreate_v2");
  check_device(gpus, device, kCall);
  *context = static_cast<CUcontext>(standin::cuda::create_context(device));
  standin::cuda::push(*context);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext context) {
  BEGIN("cuCtxDestroy_v2");
  const int device = standin::cuda::device_of(context, kCall);
  if (current() == context) standin::cuda::pop(kCall);
  standin::cuda::destroy_context(context, kCall);
  gpus.destroy_default_stream(device, context);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  BEGIN("cuCtxPushCurrent_v2");
  if (!standin::cuda::is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  standin::cuda::push(context);
  return CUDA_SUCCESS;
}

// A failure of it is one of the driver as a whole: the stack is gone all the same.
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = static_cast<CUcontext>(standin::cuda::pop("cuCtxPopCurrent_v2"));
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

// -- memory

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t size) {
  BEGIN("cuMemAlloc_v2");
  *memory = gpus.allocate(Kind::kDevice, current_device(kCall), size);
  if (*memory != 0) made_here(*memory);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
  BEGIN_GIVING_BACK("cuMemFree_v2");
  const auto found = gpus.find(memory);
  const bool is_managed = found && found->kind == Kind::kManaged;
  check_context(memory, current(), kCall);
  gone(memory);
  gpus.free(is_managed ? Kind::kManaged : Kind::kDevice, current_device(kCall), memory);
  return late;
}

EXPORT CUresult cuMemHostAlloc(void** memory, size_t size, unsigned flags) {
  BEGIN("cuMemHostAlloc");
  if (flags != CU_MEMHOSTALLOC_PORTABLE) violation("%s: pinned memory that is not portable (%u)", kCall, flags);
  *memory = reinterpret_cast<void*>(gpus.allocate(Kind::kPinned, current_device(kCall), size));
  if (*memory != nullptr) made_here(number(*memory));
  return *memory != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeHost(void* memory) {
  BEGIN_GIVING_BACK("cuMemFreeHost");
  check_context(number(memory), current(), kCall);
  gone(number(memory));
  gpus.free(Kind::kPinned, current_device(kCall), number(memory));
  return late;
}

EXPORT CUresult cuMemAllocManaged(CUdeviceptr* memory, size_t size, unsigned flags) {
  BEGIN("cuMemAllocManaged");
  if (flags != CU_MEM_ATTACH_GLOBAL) violation("%s: managed memory for one stream (%u)", kCall, flags);
  if (gpus.managed() == 0) return CUDA_ERROR_NOT_SUPPORTED;
  *memory = gpus.allocate(Kind::kManaged, current_device(kCall), size);
  if (*memory != 0) made_here(*memory);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr memory, size_t size, CUdevice to, CUstream stream) {
  BEGIN("cuMemPrefetchAsync");
  stream_of(gpus, stream, kCall);
  const auto found = gpus.find(memory);
  if (!found || found->kind != Kind::kManaged || memory - found->start + size > found->size) {
    violation("%s: %zu bytes at %#llx are no managed memory", kCall, size, memory);
  }
  check_device(gpus, to, kCall);
  if (gpus.managed() < 2) return CUDA_ERROR_INVALID_DEVICE;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAllocAsync(CUdeviceptr* memory, size_t size, CUstream stream) {
  BEGIN("cuMemAllocAsync");
  if (!gpus.memory_pools()) return CUDA_ERROR_NOT_SUPPORTED;
  *memory = gpus.allocate_on(stream_of(gpus, stream, kCall), size);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  BEGIN_GIVING_BACK("cuMemFreeAsync");
  gpus.free_on(stream_of(gpus, stream, kCall), memory);
  return late;
}

EXPORT CUresult cuMemHostRegister_v2(void* memory, size_t size, unsigned flags) {
  BEGIN("cuMemHostRegister_v2");
  if (flags != CU_MEMHOSTREGISTER_PORTABLE) violation("%s: memory that is not portable (%u)", kCall, flags);
  const bool fresh = gpus.register_host(current_device(kCall), number(memory), size);
  return fresh ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

EXPORT CUresult cuMemHostUnregister(void* memory) {
  BEGIN_GIVING_BACK("cuMemHostUnregister");
  current_device(kCall);
  gpus.unregister_host(number(memory));
  return late;
}

EXPORT CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  BEGIN("cuMemGetInfo_v2");
  *free = gpus.free_memory(current_device(kCall));
  *total = gpus.memory();
  return CUDA_SUCCESS;
}

EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                       CUdeviceptr pointer) {
  BEGIN("cuPointerGetAttributes");
  current_device(kCall);
  const auto found = gpus.find(pointer);
  const bool on_host = found && (found->kind == Kind::kPinned || found->kind == Kind::kRegistered);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(values[i]) = !found    ? 0u
                                             : on_host ? unsigned{CU_MEMORYTYPE_HOST}
                                                       : unsigned{CU_MEMORYTYPE_DEVICE};
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(values[i]) = found && found->kind == Kind::kManaged;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(values[i]) = found ? found->device : -2; break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(values[i]) = found ? found->start : 0;
        break;
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<void**>(values[i]) = found ? context_of(found->start) : nullptr;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<size_t*>(values[i]) = found ? found->size : 0; break;
      default: violation("%s: attribute %u", kCall, attributes[i]);
    }
  }
  return CUDA_SUCCESS;
}

// -- streams

EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  BEGIN("cuStreamCreate");
  if (flags != CU_STREAM_NON_BLOCKING) violation("%s: a stream that the default stream waits for (%u)", kCall, flags);
  *stream = static_cast<CUstream>(gpus.create_stream(current_device(kCall)));
  made_here(number(*stream));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamDestroy_v2(CUstream stream) {
  BEGIN_GIVING_BACK("cuStreamDestroy_v2");
  check_context(number(stream), current(), kCall);
  gpus.destroy_stream(current_device(kCall), stream);
  gone(number(stream));
  return late;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  BEGIN("cuStreamSynchronize");
  gpus.synchronize(stream_of(gpus, stream, kCall));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  BEGIN("cuStreamWaitEvent");
  if (flags != 0) violation("%s: flags %u", kCall, flags);
  gpus.wait_on(stream_of(gpus, stream, kCall), event);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  BEGIN("cuStreamGetCtx");
  current_device(kCall);
  gpus.device_of_stream(stream);  // it is one
  *context = static_cast<CUcontext>(context_of(number(stream)));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  BEGIN("cuStreamIsCapturing");
  stream_of(gpus, stream, kCall);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

// -- copies

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  BEGIN("cuMemcpyAsync");
  check_ends(gpus, to, current(), from, current(), kCall);
  gpus.copy(stream_of(gpus, stream, kCall), {{.to = to, .from = from, .size = size}});
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t size, CUstream stream) {
  BEGIN("cuMemcpyPeerAsync");
  check_ends(gpus, to, to_context, from, from_context, kCall);
  gpus.copy(stream_of(gpus, stream, kCall), {{.to = to,
                                              .from = from,
                                              .size = size,
                                              .to_device = standin::cuda::device_of(to_context, kCall),
                                              .from_device = standin::cuda::device_of(from_context, kCall)}});
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                   CUmemcpyAttributes* attributes, size_t* attribute_starts, size_t attribute_count,
                                   size_t*, CUstream stream) {
  BEGIN("cuMemcpyBatchAsync");
  if (number(stream) <= kStreamLegacy) violation("%s: on the legacy default stream", kCall);
  if (count == 0 || attribute_count != 1 || attribute_starts[0] != 0)
    violation("%s: no copies or no attributes", kCall);
  if (attributes[0].srcAccessOrder != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM) {
    violation("%s: sources are to be read in the order of the stream", kCall);
  }
  std::vector<standin::Copy> copies;
  for (size_t i = 0; i < count; ++i) {
    for (const CUdeviceptr end : {to[i], from[i]}) {
      if (!gpus.find(end)) violation("%s: %#llx is pageable host memory", kCall, end);
    }
    check_ends(gpus, to[i], current(), from[i], current(), kCall);
    copies.push_back({.to = to[i], .from = from[i], .size = sizes[i]});
  }
  gpus.copy(stream_of(gpus, stream, kCall), copies);
  return CUDA_SUCCESS;
}

// -- events

EXPORT CUresult cuEventCreate(CUevent* event, unsigned flags) {
  BEGIN("cuEventCreate");
  if ((flags & CU_EVENT_DISABLE_TIMING) == 0) violation("%s: an event with timing (%u)", kCall, flags);
  *event = static_cast<CUevent>(gpus.create_event(current_device(kCall)));
  made_here(number(*event));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy_v2(CUevent event) {
  BEGIN_GIVING_BACK("cuEventDestroy_v2");
  check_context(number(event), current(), kCall);
  gpus.destroy_event(current_device(kCall), event);
  gone(number(event));
  return late;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  BEGIN("cuEventRecord");
  check_context(number(event), current(), kCall);
  gpus.record(event, stream_of(gpus, stream, kCall));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event) {
  BEGIN("cuEventQuery");
  current_device(kCall);
  return gpus.is_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
  BEGIN("cuEventSynchronize");
  current_device(kCall);
  gpus.wait(event);
  return CUDA_SUCCESS;
}

// -- finding entry points

namespace {

struct EntryPoint {
  const char* name;
  const char* suffix;
  int version;
  void* function;
};

// Exported names are those that the list of symbols gives.
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2

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
