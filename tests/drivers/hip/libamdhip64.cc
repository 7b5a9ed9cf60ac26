// SPDX-License-Identifier: Apache-2.0
// A stand-in for libamdhip64. It has only the entry points that the backend uses.
//
//   STANDIN_HIP_VERSION   60200000 for HIP 6.2; before 6 the memory types have other numbers,
//                         and a query of unknown memory fails
//   STANDIN_NO_DESCRIPTORS  set if there is no virtual memory
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.h"
#include "hip/api.h"
#include "hip/symbols.h"
#include "machine/capture.h"
#include "machine/control.h"
#include "machine/machine.h"
#include "machine/violation.h"

using namespace arrowdevice::hip;
using standin::Kind;
using standin::Machine;
using standin::violation;
namespace captures = standin::captures;

#define EXPORT extern "C" __attribute__((visibility("default")))

// Begins each entry point. It counts the call, returns a planned failure, and defines `gpus`.
#define BEGIN(call)                                                   \
  constexpr const char* kCall = call;                                 \
  int failing = 0;                                                    \
  [[maybe_unused]] Machine& gpus = standin::machine(kCall, &failing); \
  if (const hipError_t early = begin(kCall, failing)) return early

// Begins each entry point that frees or destroys. Such a call may report a failure of earlier work, but it
// frees the object in any case.
#define BEGIN_GIVING_BACK(call)                      \
  constexpr const char* kCall = call;                \
  int failing = 0;                                   \
  Machine& gpus = standin::machine(kCall, &failing); \
  const hipError_t late = begin(kCall, failing);     \
  if (sticky != 0 || late == hipErrorStreamCaptureUnsupported) return late

namespace {

constexpr int kDefaultVersion = 60'200'000;
constexpr int kFirstOfHip6 = 60'000'000;
constexpr int kFirstWithDescriptors = 70'100'000;

std::atomic<bool> started{false};
std::atomic<int> sticky{0};
thread_local int current = 0;
thread_local hipError_t last_error = hipSuccess;

int hip_version() {
  const char* text = std::getenv("STANDIN_HIP_VERSION");
  return text != nullptr ? std::atoi(text) : kDefaultVersion;
}

bool is_sticky(int code) {
  return code == 214 || code == 700 || code == 702 || code == 709 || code == 710 || code == 719;
}

hipError_t fail(hipError_t error) {
  if (error != hipSuccess) last_error = error;
  return error;
}

// Returns the result of a call. After an error that a GPU cannot recover from, every later call returns
// that error.
hipError_t begin(const char* call, int failing) {
  if (!started && std::strcmp(call, "hipInit") != 0 && std::strcmp(call, "hipRuntimeGetVersion") != 0) {
    violation("%s is called before hipInit", call);
  }
  if (sticky != 0) return fail(static_cast<hipError_t>(sticky.load()));
  if (is_sticky(failing)) {
    sticky = failing;
    standin::machine().lose();
  }
  if (failing == 0 && !captures::allows(call)) return fail(hipErrorStreamCaptureUnsupported);
  return fail(static_cast<hipError_t>(failing));
}

void check_device(const Machine& gpus, int device, const char* call) {
  if (device < 0 || device >= gpus.devices()) violation("%s: there is no device %d", call, device);
}

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

void* stream_of(Machine& gpus, hipStream_t stream, const char* call) {
  if (number(stream) <= kStreamPerThread) return gpus.default_stream(current);
  if (gpus.device_of_stream(stream) != current) {
    violation("%s: the stream is of GPU %d, and GPU %d is current", call, gpus.device_of_stream(stream), current);
  }
  return stream;
}

constexpr size_t kGranularity = 2 << 20;

// Ends the process unless the properties are those of a GPU's memory that can leave as a descriptor.
void check_shareable(const Machine& gpus, const hipMemAllocationProp& properties, const char* call) {
  if (properties.type != hipMemAllocationTypePinned || properties.location.type != hipMemLocationTypeDevice ||
      properties.win32HandleMetaData != nullptr) {
    violation("%s: no memory of a GPU", call);
  }
  if (properties.requestedHandleType != hipMemHandleTypePosixFileDescriptor) {
    violation("%s: the memory cannot leave as a descriptor", call);
  }
  check_device(gpus, properties.location.id, call);
}

void check_granularity(size_t size, const char* call) {
  if (size == 0 || size % kGranularity != 0) violation("%s: %zu bytes are no multiple of the granularity", call, size);
}

// Does the same for work that must not become part of an application's graph.
void* uncaptured_stream_of(Machine& gpus, hipStream_t stream, const char* call) {
  void* const found = stream_of(gpus, stream, call);
  captures::check_no_capture(found, call);
  return found;
}

}  // namespace

// -- the runtime and its devices

EXPORT hipError_t hipInit(unsigned flags) {
  BEGIN("hipInit");
  if (flags != 0) violation("hipInit: flags %u", flags);
  started = true;
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

EXPORT hipError_t hipGetLastError() {
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

EXPORT hipError_t hipGetDeviceCount(int* count) {
  BEGIN("hipGetDeviceCount");
  *count = gpus.devices();
  return fail(*count > 0 ? hipSuccess : hipErrorNoDevice);
}

EXPORT hipError_t hipGetDevice(int* device) {
  BEGIN("hipGetDevice");
  *device = current;
  return hipSuccess;
}

// A call that restores the former device must not fail. The device changes even if the call returns a
// failure.
EXPORT hipError_t hipSetDevice(int device) {
  check_device(standin::machine(), device, "hipSetDevice");
  const int former = current;
  current = device;
  int failing = 0;
  standin::machine("hipSetDevice", &failing);
  const hipError_t error = begin("hipSetDevice", failing);
  if (error != hipSuccess && sticky == 0) current = former;
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
  *memory = reinterpret_cast<void*>(gpus.allocate(Kind::kDevice, current, size));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipFree(void* memory) {
  BEGIN_GIVING_BACK("hipFree");
  gpus.free(Kind::kDevice, current, number(memory));
  return late;
}

EXPORT hipError_t hipHostMalloc(void** memory, size_t size, unsigned flags) {
  BEGIN("hipHostMalloc");
  if (flags != hipHostMallocPortable) violation("%s: pinned memory that is not portable (%u)", kCall, flags);
  *memory = reinterpret_cast<void*>(gpus.allocate(Kind::kPinned, current, size));
  return fail(*memory != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipHostFree(void* memory) {
  BEGIN_GIVING_BACK("hipHostFree");
  gpus.free(Kind::kPinned, current, number(memory));
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
  gpus.free_on(uncaptured_stream_of(gpus, stream, kCall), number(memory));
  return late;
}

// -- virtual memory. A mapping is an allocation of the machine.

EXPORT hipError_t hipMemGetAllocationGranularity(size_t* bytes, const hipMemAllocationProp* properties,
                                                 hipMemAllocationGranularity_flags what) {
  BEGIN("hipMemGetAllocationGranularity");
  check_shareable(gpus, *properties, kCall);
  if (what != hipMemAllocationGranularityMinimum) violation("%s: flags %u", kCall, what);
  *bytes = kGranularity;
  return hipSuccess;
}

EXPORT hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* memory, size_t size,
                               const hipMemAllocationProp* properties, unsigned long long flags) {
  BEGIN("hipMemCreate");
  check_shareable(gpus, *properties, kCall);
  check_granularity(size, kCall);
  if (flags != 0) violation("%s: flags %llu", kCall, flags);
  auto made = gpus.create_physical(properties->location.id, size);
  if (made == nullptr) return fail(hipErrorOutOfMemory);
  *memory = reinterpret_cast<hipMemGenericAllocationHandle_t>(gpus.add_handle(std::move(made)));
  return hipSuccess;
}

EXPORT hipError_t hipMemRelease(hipMemGenericAllocationHandle_t memory) {
  BEGIN_GIVING_BACK("hipMemRelease");
  gpus.drop_handle(number(memory));
  return late;
}

// The descriptor does not close on exec.
EXPORT hipError_t hipMemExportToShareableHandle(void* handle, hipMemGenericAllocationHandle_t memory,
                                                hipMemAllocationHandleType type, unsigned long long flags) {
  BEGIN("hipMemExportToShareableHandle");
  if (type != hipMemHandleTypePosixFileDescriptor || flags != 0) violation("%s: type %u", kCall, type);
  const auto exported = gpus.physical_of(number(memory));
  const int made = exported->is_imported ? -1 : ::dup(exported->pages->duplicate().get());
  if (made < 0) return fail(hipErrorInvalidValue);
  *static_cast<int*>(handle) = made;
  return hipSuccess;
}

// Takes a pointer to the descriptor, and from HIP 7.1 on the descriptor itself.
EXPORT hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* memory, void* handle,
                                                  hipMemAllocationHandleType type) {
  BEGIN("hipMemImportFromShareableHandle");
  if (type != hipMemHandleTypePosixFileDescriptor) violation("%s: type %u", kCall, type);
  const bool is_value = hip_version() >= kFirstWithDescriptors;
  const int descriptor = is_value ? static_cast<int>(number(handle)) : *static_cast<const int*>(handle);
  try {
    *memory =
        reinterpret_cast<hipMemGenericAllocationHandle_t>(gpus.add_handle(gpus.import_physical(current, descriptor)));
    return hipSuccess;
  } catch (const arrowdevice::Error&) {
    return fail(hipErrorInvalidValue);
  }
}

EXPORT hipError_t hipMemAddressReserve(void** range, size_t size, size_t alignment, void* wanted,
                                       unsigned long long flags) {
  BEGIN("hipMemAddressReserve");
  check_granularity(size, kCall);
  if (alignment != 0 || wanted != nullptr || flags != 0) violation("%s: a wish for the address", kCall);
  *range = reinterpret_cast<void*>(gpus.reserve(size));
  return fail(*range != nullptr ? hipSuccess : hipErrorOutOfMemory);
}

EXPORT hipError_t hipMemAddressFree(void* range, size_t size) {
  BEGIN_GIVING_BACK("hipMemAddressFree");
  gpus.unreserve(number(range), size);
  return late;
}

// The runtime does not compare the size with that of the memory.
EXPORT hipError_t hipMemMap(void* start, size_t size, size_t offset, hipMemGenericAllocationHandle_t memory,
                            unsigned long long flags) {
  BEGIN("hipMemMap");
  check_granularity(size, kCall);
  if (number(start) % kGranularity != 0) violation("%s: %p is no multiple of the granularity", kCall, start);
  if (offset != 0 || flags != 0) violation("%s: an offset or flags", kCall);
  auto mapped = gpus.physical_of(number(memory));
  if (size > static_cast<size_t>(mapped->pages->size())) violation("%s: more bytes than there are", kCall);
  gpus.map(number(start), size, std::move(mapped));
  return hipSuccess;
}

EXPORT hipError_t hipMemUnmap(void* start, size_t size) {
  BEGIN_GIVING_BACK("hipMemUnmap");
  gpus.unmap(number(start), size);
  return late;
}

EXPORT hipError_t hipMemSetAccess(void* start, size_t size, const hipMemAccessDesc* users, size_t count) {
  BEGIN("hipMemSetAccess");
  const int owner = gpus.physical_at(number(start))->device;
  std::set<int> granted;
  for (size_t i = 0; i < count; ++i) {
    check_device(gpus, users[i].location.id, kCall);
    if (users[i].location.type != hipMemLocationTypeDevice || users[i].flags != hipMemAccessFlagsProtReadWrite) {
      violation("%s: no access of a GPU", kCall);
    }
    if (users[i].location.id != owner && !gpus.peers()) return fail(hipErrorInvalidValue);
    granted.insert(users[i].location.id);
  }
  gpus.set_users(number(start), size, granted);
  return hipSuccess;
}

EXPORT hipError_t hipMemsetAsync(void* to, int value, size_t size, hipStream_t stream) {
  BEGIN("hipMemsetAsync");
  gpus.fill(uncaptured_stream_of(gpus, stream, kCall), number(to), static_cast<unsigned char>(value), size);
  return hipSuccess;
}

// An application registers host memory. The backend never calls these.
EXPORT hipError_t hipHostRegister(void* memory, size_t size, unsigned /*flags*/) {
  BEGIN("hipHostRegister");
  gpus.register_host(current, number(memory), size);
  return hipSuccess;
}

EXPORT hipError_t hipHostUnregister(void* memory) {
  BEGIN_GIVING_BACK("hipHostUnregister");
  gpus.unregister_host(number(memory));
  return late;
}

EXPORT hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  BEGIN("hipMemGetInfo");
  *free = gpus.free_memory(current);
  *total = gpus.memory();
  return hipSuccess;
}

EXPORT hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  BEGIN("hipMemGetAddressRange");
  const auto found = gpus.find(number(pointer));
  if (!found || found->kind == Kind::kRegistered) return fail(hipErrorInvalidValue);
  *base = reinterpret_cast<void*>(found->start);
  *size = found->size;
  return hipSuccess;
}

EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  BEGIN("hipPointerGetAttributes");
  const bool is_hip_6 = hip_version() >= kFirstOfHip6;
  const auto found = gpus.find(number(pointer));
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
  *stream = static_cast<hipStream_t>(gpus.create_stream(current));
  return hipSuccess;
}

EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  BEGIN_GIVING_BACK("hipStreamDestroy");
  gpus.destroy_stream(current, stream);
  return late;
}

EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  BEGIN("hipStreamSynchronize");
  gpus.synchronize(stream_of(gpus, stream, kCall));
  return fail(static_cast<hipError_t>(sticky.load()));
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
            {{.to = number(to), .from = number(from), .size = size, .may_stage = true}},
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
      {{.to = number(to), .from = number(from), .size = size, .to_device = to_device, .from_device = from_device}},
      standin::Blocking::kUntilCopied);
  return hipSuccess;
}

// -- events

EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  BEGIN("hipEventCreateWithFlags");
  if ((flags & hipEventDisableTiming) == 0) violation("%s: an event with timing (%u)", kCall, flags);
  *event = static_cast<hipEvent_t>(gpus.create_event(current, (flags & hipEventBlockingSync) != 0));
  return hipSuccess;
}

EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  BEGIN_GIVING_BACK("hipEventDestroy");
  gpus.destroy_event(current, event);
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
  return fail(static_cast<hipError_t>(sticky.load()));
}

EXPORT const char* standin_entry_point(int64_t index) {
  static constexpr const char* kNames[] = {
#define X(name, version, parameters) #name,
      ARROWDEVICE_HIP_SYMBOLS(X)
#undef X
  };
  return index >= 0 && index < static_cast<int64_t>(std::size(kNames)) ? kNames[index] : nullptr;
}
