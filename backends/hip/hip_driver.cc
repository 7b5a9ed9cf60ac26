// SPDX-License-Identifier: Apache-2.0
#include "hip/hip_driver.h"

#include <cerrno>
#include <cstring>

#include "base/numa.h"
#include "base/text.h"
#include "hip/library.h"
#include "hip/shareable.h"

namespace arrowdevice::hip {
namespace {

using cuda_like::Context;
using cuda_like::MemoryKind;
using cuda_like::MemoryPool;
using cuda_like::NativeEvent;
using cuda_like::Piece;
using cuda_like::PointerFacts;
using cuda_like::Properties;
using cuda_like::Stream;
using cuda_like::StreamPlace;

hipStream_t native(Stream stream) { return static_cast<hipStream_t>(stream); }
hipEvent_t native_event(NativeEvent event) { return static_cast<hipEvent_t>(event); }
hipMemPool_t native_pool(MemoryPool pool) { return static_cast<hipMemPool_t>(pool); }
// hipMemoryType of HIP 5: 0 host, 1 device, 2 array, 3 unified, and from 5.3 on 4 managed.
std::optional<MemoryKind> kind_of_5(unsigned type) {
  constexpr unsigned kHost = 0, kDevice = 1, kUnified = 3, kManaged = 4;
  switch (type) {
    case kHost: return MemoryKind::kPinned;
    case kDevice: return MemoryKind::kDevice;
    case kUnified:
    case kManaged: return MemoryKind::kManaged;
    default: return std::nullopt;
  }
}

// hipMemoryType from HIP 6 on, as in CUDA's runtime: 0 unknown, 1 host, 2 device, 3 managed, 10 array, 11 unified.
std::optional<MemoryKind> kind_of_6(unsigned type) {
  constexpr unsigned kHost = 1, kDevice = 2, kManaged = 3, kUnified = 11;
  switch (type) {
    case kHost: return MemoryKind::kPinned;
    case kDevice: return MemoryKind::kDevice;
    case kManaged:
    case kUnified: return MemoryKind::kManaged;
    default: return std::nullopt;
  }
}

// Returns the kind of memory that hipPointerGetAttributes() reports, or nullopt for unknown memory. HIP 6 changed the
// numbers but kept the names. `major` is the version of the library that filled `attributes`.
std::optional<MemoryKind> pointer_kind(const hipPointerAttribute_t& attributes, int major) {
  constexpr int kFirstWithOtherNumbers = 6;
  if (attributes.isManaged != 0) return MemoryKind::kManaged;
  return major < kFirstWithOtherNumbers ? kind_of_5(attributes.memoryType) : kind_of_6(attributes.memoryType);
}

class HipDriver final : public cuda_like::Driver {
 public:
  const char* vendor() const override { return "AMD"; }
  int api_version() const override { return hip_.version(); }

  int device_count() override {
    int count = 0;
    hip_.check("hipGetDeviceCount", hip_.hipGetDeviceCount(&count));
    return count;
  }

  // Queries each property separately, because the struct that holds all of them differs between versions.
  Properties properties(int ordinal) override {
    Properties properties;
    char name[128] = {};
    hip_.check("hipDeviceGetName", hip_.hipDeviceGetName(name, sizeof name - 1, ordinal));
    properties.name = name;
    hipUUID uuid{};
    hip_.check("hipDeviceGetUuid", hip_.hipDeviceGetUuid(&uuid, ordinal));
    std::memcpy(properties.uuid.data(), uuid.bytes, sizeof uuid.bytes);
    size_t memory = 0;
    hip_.check("hipDeviceTotalMem", hip_.hipDeviceTotalMem(&memory, ordinal));
    properties.total_memory = static_cast<int64_t>(memory);
    properties.numa_node = numa_node(ordinal);
    const bool knows_pools = hip_.hipMemPoolCreate != nullptr && hip_.hipMemPoolDestroy != nullptr &&
                             hip_.hipMemPoolSetAttribute != nullptr && hip_.hipMemPoolSetAccess != nullptr &&
                             hip_.hipMemPoolTrimTo != nullptr && hip_.hipMallocFromPoolAsync != nullptr &&
                             hip_.hipFreeAsync != nullptr;
    properties.has_memory_pools = knows_pools && hip_.has(ordinal, hipDeviceAttributeMemoryPoolsSupported);
    properties.shareable_granularity = shareable_.granularity(ordinal);
    return properties;
  }

  Context retain_context(int) override { return nullptr; }  // HIP has no contexts.

  bool can_access_peer(int ordinal, int peer) override {
    int can = 0;
    hip_.check("hipDeviceCanAccessPeer", hip_.hipDeviceCanAccessPeer(&can, ordinal, peer));
    return can != 0;
  }

  // Each thread has a current device, which is 0 at first.
  int enter(int ordinal, Context) override {
    int former = 0;
    hip_.check("hipGetDevice", hip_.hipGetDevice(&former));
    if (former != ordinal) hip_.check("hipSetDevice", hip_.hipSetDevice(ordinal));
    return former == ordinal ? kUnchanged : former;
  }

  void leave(int former) noexcept override {
    if (former != kUnchanged && hip_.hipSetDevice(former) != hipSuccess) hip_.forget_error();
  }

  int relax_captures() noexcept override { return exchange_capture_mode(hipStreamCaptureModeRelaxed); }
  void restore_captures(int former) noexcept override {
    if (former != kUnchanged) exchange_capture_mode(static_cast<hipStreamCaptureMode>(former));
  }

  bool is_fatal(int native_code) const noexcept override {
    switch (native_code) {
      case hipErrorECCNotCorrectable:
      case hipErrorIllegalAddress:
      case hipErrorLaunchTimeOut:
      case hipErrorContextIsDestroyed:
      case hipErrorAssert:
      case hipErrorLaunchFailure: return true;
      default: return false;
    }
  }

  bool has_shut_down(int native_code) const noexcept override {
    return native_code == hipErrorDeinitialized || native_code == hipErrorContextIsDestroyed;
  }

  void* allocate(MemoryKind kind, int64_t size) override {
    const auto n = static_cast<size_t>(size);
    void* memory = nullptr;
    switch (kind) {
      case MemoryKind::kDevice: hip_.check("hipMalloc", hip_.hipMalloc(&memory, n), bytes_text(size)); return memory;
      case MemoryKind::kPinned:
        hip_.check("hipHostMalloc", hip_.hipHostMalloc(&memory, n, hipHostMallocPortable), bytes_text(size));
        return memory;
      case MemoryKind::kManaged: break;  // The format has no device type for it.
    }
    throw Error(ENOTSUP, "managed memory of HIP");
  }

  void free(MemoryKind kind, void* memory) override {
    if (kind == MemoryKind::kPinned) {
      hip_.check("hipHostFree", hip_.hipHostFree(memory));
    } else {
      hip_.check("hipFree", hip_.hipFree(memory));
    }
  }

  MemoryPool create_pool(int ordinal, int64_t kept_bytes) override {
    hipMemPoolProps properties{};
    properties.allocType = hipMemAllocationTypePinned;  // the only one: the memory stays on its GPU
    properties.handleTypes = hipMemHandleTypeNone;
    properties.location = location_of(ordinal);
    hipMemPool_t pool = nullptr;
    hip_.check("hipMemPoolCreate", hip_.hipMemPoolCreate(&pool, &properties));
    int waits_for_others = 0;
    auto threshold = static_cast<uint64_t>(kept_bytes);
    try {
      set_attribute(pool, hipMemPoolReuseAllowInternalDependencies, &waits_for_others);
      set_attribute(pool, hipMemPoolAttrReleaseThreshold, &threshold);
    } catch (...) {
      if (hip_.hipMemPoolDestroy(pool) != hipSuccess) hip_.forget_error();
      throw;
    }
    return pool;
  }

  void grant_access(MemoryPool pool, int ordinal) override {
    const hipMemAccessDesc user{.location = location_of(ordinal), .flags = hipMemAccessFlagsProtReadWrite};
    hip_.check("hipMemPoolSetAccess", hip_.hipMemPoolSetAccess(native_pool(pool), &user, 1));
  }

  void trim(MemoryPool pool) override { hip_.check("hipMemPoolTrimTo", hip_.hipMemPoolTrimTo(native_pool(pool), 0)); }

  void* allocate_from(MemoryPool pool, Stream stream, int64_t size) override {
    void* memory = nullptr;
    hip_.check("hipMallocFromPoolAsync",
               hip_.hipMallocFromPoolAsync(&memory, static_cast<size_t>(size), native_pool(pool), native(stream)),
               bytes_text(size));
    return memory;
  }

  void free_on(Stream stream, void* memory) override {
    hip_.check("hipFreeAsync", hip_.hipFreeAsync(memory, native(stream)));
  }

  void* allocate_shareable(int ordinal, std::span<const int> users, int64_t size) override {
    return shareable_.allocate(ordinal, users, size);
  }
  void free_shareable(void* memory, int64_t size) override { shareable_.free(memory, size); }
  FileDescriptor export_memory(const void* memory) override { return shareable_.export_memory(memory); }
  void* import_memory(std::span<const int> users, int descriptor, int64_t size) override {
    return shareable_.import_memory(users, descriptor, size);
  }

  void clear(void* memory, int64_t size, Stream stream) override {
    hip_.check("hipMemsetAsync", hip_.hipMemsetAsync(memory, 0, static_cast<size_t>(size), native(stream)));
  }

  void device_get_memory_info(int64_t* free_bytes, int64_t* total_bytes) override {
    size_t free = 0;
    size_t total = 0;
    hip_.check("hipMemGetInfo", hip_.hipMemGetInfo(&free, &total));
    *free_bytes = static_cast<int64_t>(free);
    *total_bytes = static_cast<int64_t>(total);
  }

  // HIP 5 fails for unknown memory. Later versions succeed and report it in the attributes.
  std::optional<PointerFacts> find_pointer(const void* pointer) override {
    hipPointerAttribute_t attributes{};
    const hipError_t result = hip_.hipPointerGetAttributes(&attributes, pointer);
    if (result == hipErrorInvalidValue) {
      hip_.forget_error();
      return std::nullopt;
    }
    hip_.check("hipPointerGetAttributes", result);
    const auto kind = pointer_kind(attributes, hip_.major());
    if (!kind) return std::nullopt;
    void* base = nullptr;
    size_t size = 0;
    if (hip_.hipMemGetAddressRange(&base, &size, const_cast<void*>(pointer)) != hipSuccess) {
      hip_.forget_error();  // Some kinds of memory have no range.
      base = nullptr;
    }
    return PointerFacts{.kind = *kind,
                        .ordinal = attributes.device,
                        .base = base,
                        .size = base != nullptr ? static_cast<int64_t>(size) : -1};
  }

  Stream create_stream() override {
    hipStream_t stream = nullptr;
    hip_.check("hipStreamCreateWithFlags", hip_.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
  }

  void destroy_stream(Stream stream) override { hip_.check("hipStreamDestroy", hip_.hipStreamDestroy(native(stream))); }

  void synchronize(Stream stream) override {
    hip_.check("hipStreamSynchronize", hip_.hipStreamSynchronize(native(stream)));
  }

  std::optional<StreamPlace> place_of(Stream stream) override {
    const auto number = reinterpret_cast<uintptr_t>(stream);
    const bool is_default = stream == nullptr || number == kStreamLegacy || number == kStreamPerThread;
    if (is_default || hip_.hipStreamGetDevice == nullptr) return std::nullopt;
    hipDevice_t device = 0;
    hip_.check("hipStreamGetDevice", hip_.hipStreamGetDevice(native(stream), &device));
    return StreamPlace{.ordinal = device, .context = nullptr};
  }

  bool is_capturing(Stream stream) override {
    if (hip_.hipStreamIsCapturing == nullptr) return false;
    auto status = hipStreamCaptureStatusNone;
    hip_.check("hipStreamIsCapturing", hip_.hipStreamIsCapturing(native(stream), &status));
    return status != hipStreamCaptureStatusNone;
  }

  void copy(const Piece& piece, Stream stream) override {
    hip_.check(
        "hipMemcpyAsync",
        hip_.hipMemcpyAsync(piece.to, piece.from, static_cast<size_t>(piece.size), hipMemcpyDefault, native(stream)),
        bytes_text(piece.size));
  }

  void copy_peer(const Piece& piece, int to, Context, int from, Context, Stream stream) override {
    hip_.check("hipMemcpyPeerAsync",
               hip_.hipMemcpyPeerAsync(piece.to, to, piece.from, from, static_cast<size_t>(piece.size), native(stream)),
               bytes_text(piece.size));
  }

  NativeEvent create_event() override {
    hipEvent_t event = nullptr;
    hip_.check("hipEventCreateWithFlags",
               hip_.hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventBlockingSync));
    return event;
  }

  void destroy_event(NativeEvent event) override {
    hip_.check("hipEventDestroy", hip_.hipEventDestroy(native_event(event)));
  }

  void record(NativeEvent event, Stream stream) override {
    hip_.check("hipEventRecord", hip_.hipEventRecord(native_event(event), native(stream)));
  }

  bool is_done(NativeEvent event) override {
    const hipError_t result = hip_.hipEventQuery(native_event(event));
    if (result == hipErrorNotReady) {
      hip_.forget_error();
      return false;
    }
    hip_.check("hipEventQuery", result);
    return true;
  }

  void wait(NativeEvent event) override {
    hip_.check("hipEventSynchronize", hip_.hipEventSynchronize(native_event(event)));
  }

  void wait_on(Stream stream, NativeEvent event) override {
    hip_.check("hipStreamWaitEvent", hip_.hipStreamWaitEvent(native(stream), native_event(event), 0));
  }

 private:
  static constexpr int kUnchanged = -1;

  int exchange_capture_mode(hipStreamCaptureMode mode) const noexcept {
    if (hip_.hipThreadExchangeStreamCaptureMode == nullptr) return kUnchanged;
    if (hip_.hipThreadExchangeStreamCaptureMode(&mode) == hipSuccess) return static_cast<int>(mode);
    hip_.forget_error();
    return kUnchanged;
  }

  void set_attribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) const {
    hip_.check("hipMemPoolSetAttribute", hip_.hipMemPoolSetAttribute(pool, attribute, value));
  }

  // A GPU works without its node, so a failure makes it unknown.
  int numa_node(int ordinal) const {
    char id[32] = {};
    if (hip_.hipDeviceGetPCIBusId == nullptr) return -1;
    if (hip_.hipDeviceGetPCIBusId(id, sizeof id - 1, ordinal) == hipSuccess) return numa::node_of(id);
    hip_.forget_error();
    return -1;
  }

  const Library hip_;
  ShareableMemory shareable_{hip_};
};

}  // namespace

std::unique_ptr<cuda_like::Driver> open_driver() { return std::make_unique<HipDriver>(); }

}  // namespace arrowdevice::hip
