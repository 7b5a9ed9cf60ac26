// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_driver.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/log.h"
#include "base/numa.h"
#include "base/text.h"
#include "cuda/library.h"
#include "cuda/shareable.h"

namespace arrowdevice::cuda {
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

CUstream native(Stream stream) { return static_cast<CUstream>(stream); }
CUevent native_event(NativeEvent event) { return static_cast<CUevent>(event); }
CUmemoryPool native_pool(MemoryPool pool) { return static_cast<CUmemoryPool>(pool); }

// Returns true if the variable has the word. Throws Error(EINVAL) for an unknown word.
bool has_word(const char* variable, std::string_view word) {
  const std::string_view known[] = {word};
  return !environment::words(variable, known).empty();
}

class CudaDriver final : public cuda_like::Driver {
 public:
  const char* vendor() const override { return "NVIDIA"; }
  int api_version() const override { return cuda_.version(); }

  int device_count() override {
    int count = 0;
    cuda_.check("cuDeviceGetCount", cuda_.cuDeviceGetCount(&count));
    return count;
  }

  Properties properties(int ordinal) override {
    const CUdevice device = cuda_.device_at(ordinal);
    Properties properties;
    char name[128] = {};
    cuda_.check("cuDeviceGetName", cuda_.cuDeviceGetName(name, sizeof name - 1, device));
    properties.name = name;
    if (cuda_.cuDeviceGetUuid != nullptr) {
      CUuuid uuid{};
      cuda_.check("cuDeviceGetUuid", cuda_.cuDeviceGetUuid(&uuid, device));
      std::memcpy(properties.uuid.data(), uuid.bytes, sizeof uuid.bytes);
    }
    if (cuda_.cuDeviceTotalMem != nullptr) {
      size_t memory = 0;
      cuda_.check("cuDeviceTotalMem_v2", cuda_.cuDeviceTotalMem(&memory, device));
      properties.total_memory = static_cast<int64_t>(memory);
    }
    properties.numa_node = numa_node(device);
    // An address must be the same on the CPU and on every GPU. This holds on 64-bit systems.
    const bool knows_pools = cuda_.cuMemPoolCreate != nullptr && cuda_.cuMemPoolDestroy != nullptr &&
                             cuda_.cuMemPoolSetAttribute != nullptr && cuda_.cuMemPoolSetAccess != nullptr &&
                             cuda_.cuMemPoolTrimTo != nullptr && cuda_.cuMemAllocFromPoolAsync != nullptr &&
                             cuda_.cuMemFreeAsync != nullptr;
    properties.has_memory_pools = knows_pools && cuda_.has(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    properties.has_managed_memory =
        cuda_.cuMemAllocManaged != nullptr && cuda_.has(device, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
    properties.shares_managed_memory = cuda_.has(device, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    properties.reads_host_pages = cuda_.has(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
    properties.shareable_granularity = shareable_.granularity(ordinal);
    return properties;
  }

  // The runtime API uses the primary context, so applications usually use it too.
  Context retain_context(int ordinal) override {
    CUcontext context = nullptr;
    cuda_.check("cuDevicePrimaryCtxRetain", cuda_.cuDevicePrimaryCtxRetain(&context, cuda_.device_at(ordinal)));
    return context;
  }

  bool can_access_peer(int ordinal, int peer) override {
    if (cuda_.cuDeviceCanAccessPeer == nullptr) return false;
    int can = 0;
    cuda_.check("cuDeviceCanAccessPeer",
                cuda_.cuDeviceCanAccessPeer(&can, cuda_.device_at(ordinal), cuda_.device_at(peer)));
    return can != 0;
  }

  void enable_peer_access(Context peer) override {
    if (!enables_peer_access_ || cuda_.cuCtxEnablePeerAccess == nullptr) return;
    const CUresult result = cuda_.cuCtxEnablePeerAccess(static_cast<CUcontext>(peer), 0);
    if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) return;
    cuda_.check("cuCtxEnablePeerAccess", result);
  }

  int ordinal_of(Context context) override {
    enter(0, context);
    CUdevice device = 0;
    const CUresult result = cuda_.cuCtxGetDevice(&device);
    leave(0);
    cuda_.check("cuCtxGetDevice", result);
    return device;
  }

  bool has_primary_context(int ordinal) override {
    if (cuda_.cuDevicePrimaryCtxGetState == nullptr) return true;
    unsigned flags = 0;
    int is_active = 0;
    cuda_.check("cuDevicePrimaryCtxGetState",
                cuda_.cuDevicePrimaryCtxGetState(cuda_.device_at(ordinal), &flags, &is_active));
    return is_active != 0;
  }

  // Retains the primary context for the comparison only if it exists. Does not create it.
  bool is_primary(Context context, int ordinal) override {
    if (!has_primary_context(ordinal)) return false;
    const bool is_same = retain_context(ordinal) == context;
    if (cuda_.cuDevicePrimaryCtxRelease != nullptr) {
      cuda_.check("cuDevicePrimaryCtxRelease", cuda_.cuDevicePrimaryCtxRelease(cuda_.device_at(ordinal)));
    }
    return is_same;
  }

  int enter(int, Context context) override {
    cuda_.check("cuCtxPushCurrent_v2", cuda_.cuCtxPushCurrent(static_cast<CUcontext>(context)));
    return 0;
  }

  // The pop fails only after the driver has shut down. Then no context is current.
  void leave(int) noexcept override {
    CUcontext popped = nullptr;
    [[maybe_unused]] const CUresult result = cuda_.cuCtxPopCurrent(&popped);
  }

  int relax_captures() noexcept override { return exchange_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED); }
  void restore_captures(int former) noexcept override {
    if (former != kUnchanged) exchange_capture_mode(static_cast<CUstreamCaptureMode>(former));
  }

  bool is_fatal(int native_code) const noexcept override {
    switch (native_code) {
#define X(name, value) case name:
      ARROWDEVICE_CUDA_FATAL_RESULTS(X)
#undef X
      return true;
      default: return false;
    }
  }

  bool is_context_gone(int native_code) const noexcept override { return native_code == CUDA_ERROR_INVALID_CONTEXT; }

  bool has_shut_down(int native_code) const noexcept override {
    return native_code == CUDA_ERROR_DEINITIALIZED || native_code == CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }

  void* allocate(MemoryKind kind, int64_t size) override {
    const auto n = static_cast<size_t>(size);
    CUdeviceptr address = 0;
    void* pinned = nullptr;
    switch (kind) {
      case MemoryKind::kDevice:
        cuda_.check("cuMemAlloc_v2", cuda_.cuMemAlloc(&address, n), bytes_text(size));
        return pointer_to(address);
      case MemoryKind::kManaged:
        cuda_.check("cuMemAllocManaged", cuda_.cuMemAllocManaged(&address, n, CU_MEM_ATTACH_GLOBAL), bytes_text(size));
        return pointer_to(address);
      case MemoryKind::kPinned:
        cuda_.check("cuMemHostAlloc", cuda_.cuMemHostAlloc(&pinned, n, CU_MEMHOSTALLOC_PORTABLE), bytes_text(size));
        return pinned;
    }
    return nullptr;
  }

  void free(MemoryKind kind, void* memory) override {
    if (kind == MemoryKind::kPinned) {
      cuda_.check("cuMemFreeHost", cuda_.cuMemFreeHost(memory));
    } else {
      cuda_.check("cuMemFree_v2", cuda_.cuMemFree(address_of(memory)));
    }
  }

  MemoryPool create_pool(int ordinal, int64_t kept_bytes) override {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;  // the only one: the memory stays on its GPU
    properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;      // other pools ignore the threshold
    properties.location = cuda_.location_of(ordinal);
    CUmemoryPool pool = nullptr;
    cuda_.check("cuMemPoolCreate", cuda_.cuMemPoolCreate(&pool, &properties));
    int waits_for_others = 0;
    auto threshold = static_cast<cuuint64_t>(kept_bytes);
    try {
      set_attribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &waits_for_others);
      set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
    } catch (...) {
      [[maybe_unused]] const CUresult result = cuda_.cuMemPoolDestroy(pool);
      throw;
    }
    return pool;
  }

  void grant_access(MemoryPool pool, int ordinal) override {
    const CUmemAccessDesc user{.location = cuda_.location_of(ordinal), .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cuda_.check("cuMemPoolSetAccess", cuda_.cuMemPoolSetAccess(native_pool(pool), &user, 1));
  }

  void trim(MemoryPool pool) override { cuda_.check("cuMemPoolTrimTo", cuda_.cuMemPoolTrimTo(native_pool(pool), 0)); }

  void* allocate_from(MemoryPool pool, Stream stream, int64_t size) override {
    CUdeviceptr address = 0;
    cuda_.check("cuMemAllocFromPoolAsync",
                cuda_.cuMemAllocFromPoolAsync(&address, static_cast<size_t>(size), native_pool(pool), native(stream)),
                bytes_text(size));
    return pointer_to(address);
  }

  void free_on(Stream stream, void* memory) override {
    cuda_.check("cuMemFreeAsync", cuda_.cuMemFreeAsync(address_of(memory), native(stream)));
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
    cuda_.check("cuMemsetD8Async",
                cuda_.cuMemsetD8Async(address_of(memory), 0, static_cast<size_t>(size), native(stream)));
  }

  void device_get_memory_info(int64_t* free_bytes, int64_t* total_bytes) override {
    *free_bytes = *total_bytes = -1;
    if (cuda_.cuMemGetInfo == nullptr) return;
    size_t free = 0;
    size_t total = 0;
    cuda_.check("cuMemGetInfo_v2", cuda_.cuMemGetInfo(&free, &total));
    *free_bytes = static_cast<int64_t>(free);
    *total_bytes = static_cast<int64_t>(total);
  }

  // The driver succeeds for any address. It returns zeros for an unknown address. The range of virtual memory
  // (cuMemAddressReserve) is all that was reserved, of which the application may have mapped a part only. The mapping
  // is then the memory that is there.
  std::optional<PointerFacts> find_pointer(const void* pointer) override {
    unsigned type = 0;
    unsigned is_managed = 0;
    int ordinal = -1;
    CUdeviceptr start = 0;
    size_t size = 0;
    CUcontext context = nullptr;
    int is_mapped = 1;
    CUdeviceptr mapping = 0;
    size_t mapped_size = 0;
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                        CU_POINTER_ATTRIBUTE_RANGE_SIZE,       CU_POINTER_ATTRIBUTE_CONTEXT,
                                        CU_POINTER_ATTRIBUTE_MAPPED,           CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
                                        CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR};
    void* values[] = {&type, &is_managed, &ordinal, &start, &size, &context, &is_mapped, &mapped_size, &mapping};
    static_assert(std::size(attributes) == std::size(values));
    constexpr unsigned kAboutMappings = 3;  // the last ones, two of which are in cuda.h since 11.7
    constexpr int kKnowsMappings = 11070;
    const auto all = static_cast<unsigned>(std::size(attributes));
    const unsigned count = cuda_.version() >= kKnowsMappings ? all : all - kAboutMappings;
    cuda_.check("cuPointerGetAttributes", cuda_.cuPointerGetAttributes(count, attributes, values, address_of(pointer)));
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE) return std::nullopt;
    if (type == CU_MEMORYTYPE_DEVICE && is_mapped == 0) return std::nullopt;
    if (mapped_size != 0 && mapped_size < size) {
      start = mapping;
      size = mapped_size;
    }
    return PointerFacts{.kind = is_managed != 0              ? MemoryKind::kManaged
                                : type == CU_MEMORYTYPE_HOST ? MemoryKind::kPinned
                                                             : MemoryKind::kDevice,
                        .ordinal = ordinal,
                        .base = pointer_to(start),
                        .size = start != 0 ? static_cast<int64_t>(size) : -1,
                        .context = context};
  }

  void prefetch(void* memory, int64_t size, int ordinal, Stream stream) override {
    if (cuda_.cuMemPrefetchAsync == nullptr) return;
    cuda_.check("cuMemPrefetchAsync", cuda_.cuMemPrefetchAsync(address_of(memory), static_cast<size_t>(size),
                                                               cuda_.device_at(ordinal), native(stream)));
  }

  Stream create_stream() override {
    CUstream stream = nullptr;
    cuda_.check("cuStreamCreate", cuda_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }

  void destroy_stream(Stream stream) override {
    cuda_.check("cuStreamDestroy_v2", cuda_.cuStreamDestroy(native(stream)));
  }

  void synchronize(Stream stream) override {
    cuda_.check("cuStreamSynchronize", cuda_.cuStreamSynchronize(native(stream)));
  }

  std::optional<StreamPlace> place_of(Stream stream) override {
    if (is_default_stream(stream)) return std::nullopt;
    CUcontext context = nullptr;
    if (cuda_.cuStreamGetCtx_v2 != nullptr) {
      // A stream of a green context uses the memory of the primary context, which this form of the function gives.
      CUgreenCtx green = nullptr;
      cuda_.check("cuStreamGetCtx_v2", cuda_.cuStreamGetCtx_v2(native(stream), &context, &green));
    } else if (cuda_.cuStreamGetCtx != nullptr) {
      cuda_.check("cuStreamGetCtx", cuda_.cuStreamGetCtx(native(stream), &context));
    } else {
      return std::nullopt;
    }
    return StreamPlace{.ordinal = ordinal_of(context), .context = context};
  }

  void copy(const Piece& piece, Stream stream) override {
    cuda_.check("cuMemcpyAsync",
                cuda_.cuMemcpyAsync(address_of(piece.to), address_of(piece.from), static_cast<size_t>(piece.size),
                                    native(stream)),
                bytes_text(piece.size));
  }

  // All contexts share one address space, so a plain copy does the same.
  void copy_peer(const Piece& piece, int, Context to, int, Context from, Stream stream) override {
    if (cuda_.cuMemcpyPeerAsync == nullptr) return copy(piece, stream);
    cuda_.check("cuMemcpyPeerAsync",
                cuda_.cuMemcpyPeerAsync(address_of(piece.to), static_cast<CUcontext>(to), address_of(piece.from),
                                        static_cast<CUcontext>(from), static_cast<size_t>(piece.size), native(stream)),
                bytes_text(piece.size));
  }

  // Batches are not allowed on the legacy default stream.
  bool takes_batches(Stream stream) override { return takes_batches_ && !is_legacy(stream); }

  void give_up_batches(const Error& reason) noexcept override {
    if (!takes_batches_.exchange(false)) return;
    log(LogLevel::kWarning, "the driver failed to copy a batch, so the process copies one by one from now on:");
    log(LogLevel::kWarning, reason.what());
  }

  bool is_capturing(Stream stream) override {
    if (cuda_.cuStreamIsCapturing == nullptr) return false;
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuda_.check("cuStreamIsCapturing", cuda_.cuStreamIsCapturing(native(stream), &status));
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  void copy_batch(std::span<const Piece> pieces, Stream stream) override {
    std::vector<CUdeviceptr> to(pieces.size());
    std::vector<CUdeviceptr> from(pieces.size());
    std::vector<size_t> sizes(pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      to[i] = address_of(pieces[i].to);
      from[i] = address_of(pieces[i].from);
      sizes[i] = static_cast<size_t>(pieces[i].size);
    }
    CUmemcpyAttributes attributes{};  // applies to all pieces
    // An application may have enqueued work on the stream that writes a source, also one in host memory.
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    attributes.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    size_t first = 0;
    size_t failed = 0;
    cuda_.check("cuMemcpyBatchAsync",
                cuda_.cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), pieces.size(), &attributes, &first, 1,
                                         &failed, native(stream)),
                format("%zu copies", pieces.size()));
  }

  NativeEvent create_event() override {
    CUevent event = nullptr;
    cuda_.check("cuEventCreate", cuda_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC));
    return event;
  }

  void destroy_event(NativeEvent event) override {
    cuda_.check("cuEventDestroy_v2", cuda_.cuEventDestroy(native_event(event)));
  }

  void record(NativeEvent event, Stream stream) override {
    cuda_.check("cuEventRecord", cuda_.cuEventRecord(native_event(event), native(stream)));
  }

  void record_context(NativeEvent event, Context context) override {
    if (cuda_.cuCtxRecordEvent == nullptr) {
      throw Error(ENOTSUP, "cuCtxRecordEvent: the driver does not have it, because it is older than CUDA 12.5");
    }
    cuda_.check("cuCtxRecordEvent", cuda_.cuCtxRecordEvent(static_cast<CUcontext>(context), native_event(event)));
  }

  bool is_done(NativeEvent event) override {
    const CUresult result = cuda_.cuEventQuery(native_event(event));
    if (result == CUDA_ERROR_NOT_READY) return false;
    cuda_.check("cuEventQuery", result);
    return true;
  }

  void wait(NativeEvent event) override {
    cuda_.check("cuEventSynchronize", cuda_.cuEventSynchronize(native_event(event)));
  }

  void wait_on(Stream stream, NativeEvent event) override {
    cuda_.check("cuStreamWaitEvent", cuda_.cuStreamWaitEvent(native(stream), native_event(event), 0));
  }

 private:
  static constexpr int kUnchanged = -1;

  int exchange_capture_mode(CUstreamCaptureMode mode) const noexcept {
    const auto exchange = cuda_.cuThreadExchangeStreamCaptureMode;
    return exchange != nullptr && exchange(&mode) == CUDA_SUCCESS ? static_cast<int>(mode) : kUnchanged;
  }

  // A GPU works without its node, so a failure makes it unknown.
  int numa_node(CUdevice device) const {
    char id[32] = {};
    const bool is_known =
        cuda_.cuDeviceGetPCIBusId != nullptr && cuda_.cuDeviceGetPCIBusId(id, sizeof id - 1, device) == CUDA_SUCCESS;
    return is_known ? numa::node_of(id) : -1;
  }

  void set_attribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) const {
    cuda_.check("cuMemPoolSetAttribute", cuda_.cuMemPoolSetAttribute(pool, attribute, value));
  }

  // Default streams belong to the context that is current.
  static bool is_default_stream(Stream stream) {
    return is_legacy(stream) || reinterpret_cast<uintptr_t>(stream) == kStreamPerThread;
  }
  static bool is_legacy(Stream stream) {
    return stream == nullptr || reinterpret_cast<uintptr_t>(stream) == kStreamLegacy;
  }

  const Library cuda_;
  const ShareableMemory shareable_{cuda_};
  std::atomic<bool> takes_batches_{cuda_.cuMemcpyBatchAsync != nullptr &&
                                   !has_word("ARROWDEVICE_CUDA_WITHOUT", "batches")};
  const bool enables_peer_access_ = has_word("ARROWDEVICE_CUDA_WITH", "peer_access");
};

}  // namespace

std::unique_ptr<cuda_like::Driver> open_driver() { return std::make_unique<CudaDriver>(); }

}  // namespace arrowdevice::cuda
