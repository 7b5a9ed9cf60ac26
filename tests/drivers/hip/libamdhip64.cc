// SPDX-License-Identifier: Apache-2.0
// The runtime and its devices, memory, streams, copies and events.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "hip/calls.h"
#include "hip/symbols.h"
#include "machine/control.h"

using namespace standin::hip;  // NOLINT: what every line is written with
using standin::Kind;
using standin::violation;

namespace {

constexpr int kFirstOfHip6 = 60'000'000;

}  // namespace

// -- the runtime and its devices

EXPORT hipError_t hipInit(unsigned flags) {
  BEGIN("hipInit");
  if (flags != 0) violation("hipInit: flags %u", flags);
  start();
  return hipSuccess;
}

EXPORT hipError_t hipRuntimeGetVersion(int* version) {
  BEGIN("hipRuntimeGetVersion");
  *version = hip_version();
  return hipSuccess;
}

EXPORT const char* hipGetErrorName(hipError_t error) {
  switch (error) {
#define X(name, value) \
  case name: return #name;
    ARROWDEVICE_HIP_ERRORS(X)
#undef X
  }
  return nullptr;
}

EXPORT hipError_t hipGetLastError() { return take_last_error(); }

EXPORT hipError_t hipGetDeviceCount(int* count) {
  BEGIN("hipGetDeviceCount");
  *count = gpus.devices();
  return fail(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

EXPORT hipError_t hipGetDevice(int* device) {
  BEGIN("hipGetDevice");
  *device = current();
  return hipSuccess;
}

// A call that restores the former device must not fail. The device changes even if the call returns a
// failure.
EXPORT hipError_t hipSetDevice(int device) {
  check_device(standin::machine(), device, "hipSetDevice");
  const int former = current();
  current() = device;
  int failing = 0;
  standin::machine("hipSetDevice", &failing);
  const hipError_t error = begin("hipSetDevice", failing);
  if (error != hipSuccess && !has_failed_for_good()) current() = former;
  return error;
}

EXPORT hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  BEGIN("hipDeviceGetName");
  check_device(gpus, device, kCall);
  std::snprintf(name, static_cast<size_t>(size), "Stand-in for an AMD GPU %d", device);
  return hipSuccess;
}

EXPORT hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  BEGIN("hipDeviceGetUuid");
  check_device(gpus, device, kCall);
  std::memcpy(uuid->bytes, "stand-in for hip", sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return hipSuccess;
}

// The id is made up, so sysfs does not have it.
EXPORT hipError_t hipDeviceGetPCIBusId(char* id, int size, int device) {
  BEGIN("hipDeviceGetPCIBusId");
  check_device(gpus, device, kCall);
  std::snprintf(id, static_cast<size_t>(size), "0000:%02x:1f.7", 0xE0u + static_cast<unsigned>(device));
  return hipSuccess;
}

EXPORT hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  BEGIN("hipDeviceTotalMem");
  check_device(gpus, device, kCall);
  *bytes = gpus.memory();
  return hipSuccess;
}

EXPORT hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  BEGIN("hipDeviceGetAttribute");
  check_device(gpus, device, kCall);
  switch (attribute) {
    case hipDeviceAttributeMemoryPoolsSupported: *value = gpus.memory_pools(); return hipSuccess;
    case hipDeviceAttributeVirtualMemoryManagementSupported:
      *value = std::getenv("STANDIN_NO_DESCRIPTORS") == nullptr;
      return hipSuccess;
  }
  violation("%s: attribute %u", kCall, attribute);
}

EXPORT hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  BEGIN("hipDeviceCanAccessPeer");
  check_device(gpus, device, kCall);
  check_device(gpus, peer, kCall);
  *can = gpus.peers() && device != peer;
  return hipSuccess;
}

// -- memory

EXPORT hipError_t hipMalloc(void** memory, size_t size) {
  BEGIN("hipMalloc");
  *memory = reinterpret_cast<void*>(gpus.allocate(Kind::kDevice, current(), size));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipFree(void* memory) {
  BEGIN_GIVING_BACK("hipFree");
  gpus.free(Kind::kDevice, current(), value_of(memory));
  return late;
}

EXPORT hipError_t hipHostMalloc(void** memory, size_t size, unsigned flags) {
  BEGIN("hipHostMalloc");
  if (flags != hipHostMallocPortable) violation("%s: pinned memory that is not portable (%u)", kCall, flags);
  *memory = reinterpret_cast<void*>(gpus.allocate(Kind::kPinned, current(), size));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipHostFree(void* memory) {
  BEGIN_GIVING_BACK("hipHostFree");
  gpus.free(Kind::kPinned, current(), value_of(memory));
  return late;
}

EXPORT hipError_t hipMallocAsync(void** memory, size_t size, hipStream_t stream) {
  BEGIN("hipMallocAsync");
  if (!gpus.memory_pools()) return fail(hipErrorNotSupported);
  *memory = reinterpret_cast<void*>(gpus.allocate_on(uncaptured_stream_of(gpus, stream, kCall), size));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  BEGIN("hipMemPoolCreate");
  if (!gpus.memory_pools()) return fail(hipErrorNotSupported);
  if (properties->allocType != hipMemAllocationTypePinned || properties->location.type != hipMemLocationTypeDevice ||
      properties->handleTypes != hipMemHandleTypeNone || properties->win32SecurityAttributes != nullptr) {
    violation("%s: no memory of a GPU", kCall);
  }
  check_device(gpus, properties->location.id, kCall);
  *pool = static_cast<hipMemPool_t>(gpus.create_pool(properties->location.id));
  return hipSuccess;
}

EXPORT hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  BEGIN_GIVING_BACK("hipMemPoolDestroy");
  gpus.destroy_pool(pool);
  return late;
}

EXPORT hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  BEGIN("hipMemPoolSetAttribute");
  switch (attribute) {
    case hipMemPoolReuseAllowInternalDependencies:
      gpus.pool(pool).waits_for_others = *static_cast<const int*>(value) != 0;
      return hipSuccess;
    case hipMemPoolAttrReleaseThreshold:
      gpus.pool(pool).threshold = *static_cast<const uint64_t*>(value);
      return hipSuccess;
  }
  violation("%s: attribute %u", kCall, attribute);
}

EXPORT hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* users, size_t count) {
  BEGIN("hipMemPoolSetAccess");
  for (size_t i = 0; i < count; ++i) {
    check_device(gpus, users[i].location.id, kCall);
    if (users[i].location.type != hipMemLocationTypeDevice || users[i].flags != hipMemAccessFlagsProtReadWrite) {
      violation("%s: no access of a GPU", kCall);
    }
    if (!gpus.peers() || users[i].location.id == gpus.pool(pool).device) return fail(hipErrorInvalidDevice);
    gpus.pool(pool).users.insert(users[i].location.id);
  }
  return hipSuccess;
}

EXPORT hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  BEGIN("hipMemPoolTrimTo");
  gpus.pool(pool);
  return hipSuccess;
}

EXPORT hipError_t hipMallocFromPoolAsync(void** memory, size_t size, hipMemPool_t pool, hipStream_t stream) {
  BEGIN("hipMallocFromPoolAsync");
  *memory = reinterpret_cast<void*>(gpus.allocate_on(uncaptured_stream_of(gpus, stream, kCall), size, pool));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipFreeAsync(void* memory, hipStream_t stream) {
  BEGIN_GIVING_BACK("hipFreeAsync");
  gpus.free_on(uncaptured_stream_of(gpus, stream, kCall), value_of(memory));
  return late;
}

// An application registers host memory. The backend never calls these.
EXPORT hipError_t hipHostRegister(void* memory, size_t size, unsigned /*flags*/) {
  BEGIN("hipHostRegister");
  gpus.register_host(current(), value_of(memory), size);
  return hipSuccess;
}

EXPORT hipError_t hipHostUnregister(void* memory) {
  BEGIN_GIVING_BACK("hipHostUnregister");
  gpus.unregister_host(value_of(memory));
  return late;
}

EXPORT hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  BEGIN("hipMemGetInfo");
  *free = gpus.free_memory(current());
  *total = gpus.memory();
  return hipSuccess;
}

EXPORT hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  BEGIN("hipMemGetAddressRange");
  const auto found = gpus.find(value_of(pointer));
  if (!found || found->kind == Kind::kRegistered) return fail(hipErrorInvalidValue);
  *base = reinterpret_cast<void*>(found->start);
  *size = found->size;
  return hipSuccess;
}

EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  BEGIN("hipPointerGetAttributes");
  const bool is_hip_6 = hip_version() >= kFirstOfHip6;
  const auto found = gpus.find(value_of(pointer));
  if (!found && !is_hip_6) return fail(hipErrorInvalidValue);
  const bool on_device = found && found->kind == Kind::kDevice;
  const unsigned host = is_hip_6 ? 1 : 0;
  std::memset(attributes, 0, sizeof *attributes);
  attributes->memoryType = !found ? 0 : on_device ? host + 1 : host;
  attributes->device = found ? found->device : -2;
  attributes->devicePointer = const_cast<void*>(pointer);
  attributes->hostPointer = on_device ? nullptr : const_cast<void*>(pointer);
  return hipSuccess;
}

// -- streams

EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  BEGIN("hipStreamCreateWithFlags");
  if (flags != hipStreamNonBlocking) violation("%s: a stream that the default stream waits for (%u)", kCall, flags);
  *stream = static_cast<hipStream_t>(gpus.create_stream(current()));
  return hipSuccess;
}

EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  BEGIN_GIVING_BACK("hipStreamDestroy");
  gpus.destroy_stream(current(), stream);
  return late;
}

EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  BEGIN("hipStreamSynchronize");
  gpus.synchronize(stream_of(gpus, stream, kCall));
  return fail(lasting_failure());
}

EXPORT hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  BEGIN("hipStreamWaitEvent");
  if (flags != 0) violation("%s: flags %u", kCall, flags);
  void* const waiting = uncaptured_stream_of(gpus, stream, kCall);
  if (captures::was_captured(event)) violation("%s: the wait makes the stream part of a graph", kCall);
  gpus.wait_on(waiting, event);
  return hipSuccess;
}

EXPORT hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  BEGIN("hipStreamGetDevice");
  *device = gpus.device_of_stream(stream);
  return hipSuccess;
}

EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  BEGIN("hipStreamIsCapturing");
  *status = static_cast<hipStreamCaptureStatus>(captures::status(stream_of(gpus, stream, kCall)));
  return hipSuccess;
}

EXPORT hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  BEGIN("hipThreadExchangeStreamCaptureMode");
  *mode = static_cast<hipStreamCaptureMode>(captures::exchange(static_cast<captures::Mode>(*mode)));
  return hipSuccess;
}

// An application has host functions, and captures a stream. The backend never calls these.
EXPORT hipError_t hipLaunchHostFunc(hipStream_t stream, void (*function)(void* user), void* user) {
  BEGIN("hipLaunchHostFunc");
  if (function == nullptr) violation("%s: no function", kCall);
  gpus.call_back(uncaptured_stream_of(gpus, stream, kCall), [function, user] { function(user); });
  return hipSuccess;
}

EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  BEGIN("hipStreamBeginCapture");
  captures::begin(stream_of(gpus, stream, kCall), static_cast<captures::Mode>(mode));
  return hipSuccess;
}

EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, void** graph) {
  BEGIN("hipStreamEndCapture");
  *graph = nullptr;
  return fail(captures::end(stream_of(gpus, stream, kCall)) ? hipSuccess : hipErrorStreamCaptureUnsupported);
}

// -- copies

EXPORT hipError_t hipMemcpyAsync(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  BEGIN("hipMemcpyAsync");
  if (kind != hipMemcpyDefault) violation("%s: kind %u", kCall, kind);
  gpus.wait_for_room(uncaptured_stream_of(gpus, stream, kCall), 1);
  // The runtime stages a copy between GPUs in host memory if it must.
  gpus.copy(uncaptured_stream_of(gpus, stream, kCall),
            {{.to = value_of(to), .from = value_of(from), .size = size, .may_stage = true}},
            standin::Blocking::kUntilCopied);
  return hipSuccess;
}

EXPORT hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                                     hipStream_t stream) {
  BEGIN("hipMemcpyPeerAsync");
  check_device(gpus, to_device, kCall);
  check_device(gpus, from_device, kCall);
  gpus.copy(
      uncaptured_stream_of(gpus, stream, kCall),
      {{.to = value_of(to), .from = value_of(from), .size = size, .to_device = to_device, .from_device = from_device}},
      standin::Blocking::kUntilCopied);
  return hipSuccess;
}

EXPORT hipError_t hipMemsetAsync(void* to, int value, size_t size, hipStream_t stream) {
  BEGIN("hipMemsetAsync");
  gpus.fill(uncaptured_stream_of(gpus, stream, kCall), value_of(to), static_cast<unsigned char>(value), size);
  return hipSuccess;
}

// -- events

EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  BEGIN("hipEventCreateWithFlags");
  if ((flags & hipEventDisableTiming) == 0) violation("%s: an event with timing (%u)", kCall, flags);
  *event = static_cast<hipEvent_t>(gpus.create_event(current(), (flags & hipEventBlockingSync) != 0));
  return hipSuccess;
}

EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  BEGIN_GIVING_BACK("hipEventDestroy");
  gpus.destroy_event(current(), event);
  captures::forget(event);
  return late;
}

EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  BEGIN("hipEventRecord");
  void* const recording = stream_of(gpus, stream, kCall);
  captures::record(event, recording);
  if (!captures::was_captured(event)) gpus.record(event, recording);
  return hipSuccess;
}

EXPORT hipError_t hipEventQuery(hipEvent_t event) {
  BEGIN("hipEventQuery");
  if (captures::was_captured(event)) return fail(hipErrorCapturedEvent);
  return fail(gpus.is_done(event) ? hipSuccess : hipErrorNotReady);
}

EXPORT hipError_t hipEventSynchronize(hipEvent_t event) {
  BEGIN("hipEventSynchronize");
  if (captures::was_captured(event)) return fail(hipErrorCapturedEvent);
  gpus.wait(event);
  return fail(lasting_failure());
}

EXPORT const char* standin_entry_point(int64_t index) {
  static constexpr const char* kNames[] = {
#define X(name, version, parameters) #name,
      ARROWDEVICE_HIP_SYMBOLS(X)
#undef X
  };
  return index >= 0 && index < static_cast<int64_t>(std::size(kNames)) ? kNames[index] : nullptr;
}
