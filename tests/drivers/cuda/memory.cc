// SPDX-License-Identifier: Apache-2.0
// Memory and copies.
#include <algorithm>
#include <vector>

#include "cuda/calls.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::Kind;
using standin::Machine;
using standin::violation;

namespace {

// Ends the process unless device memory at both ends of a copy belongs to the named or current contexts.
void check_ends(const Machine& gpus, CUdeviceptr to, void* to_context, CUdeviceptr from, void* from_context,
                const char* call) {
  const auto target = gpus.find(to);
  const auto source = gpus.find(from);
  if (!target || !source || target->kind != Kind::kDevice || source->kind != Kind::kDevice) return;
  check_context(target->start, to_context, call);
  check_context(source->start, from_context, call);
}

// Returns true if the current context uses the memory in place.
bool is_within_reach(const Machine& gpus, CUdeviceptr memory, const char* call) {
  const auto found = gpus.find(memory);
  const int here = current_device(call);
  if (!found || found->kind != Kind::kDevice || found->device == here) return true;
  return gpus.is_shared_with(memory, here) || may_use_peer(current(), context_of(found->start));
}

// Counts a copy between GPUs that passes through host memory.
void count_staged(Machine& gpus, CUdeviceptr to, CUdeviceptr from, const char* call) {
  if (!is_within_reach(gpus, to, call) || !is_within_reach(gpus, from, call)) gpus.calls().enter("staged copy");
}

}  // namespace

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
  if (*memory != nullptr) made_here(value_of(*memory));
  return *memory != nullptr ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemFreeHost(void* memory) {
  BEGIN_GIVING_BACK("cuMemFreeHost");
  check_context(value_of(memory), current(), kCall);
  gone(value_of(memory));
  gpus.free(Kind::kPinned, current_device(kCall), value_of(memory));
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
  uncaptured_stream_of(gpus, stream, kCall);
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
  *memory = gpus.allocate_on(uncaptured_stream_of(gpus, stream, kCall), size);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  BEGIN("cuMemPoolCreate");
  if (!gpus.memory_pools()) return CUDA_ERROR_NOT_SUPPORTED;
  if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
      properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->win32SecurityAttributes != nullptr) {
    violation("%s: no memory of a GPU", kCall);
  }
  if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) violation("%s: the pool ignores its threshold", kCall);
  if (std::ranges::any_of(properties->reserved, [](unsigned char byte) { return byte != 0; })) {
    violation("%s: a reserved byte is not 0", kCall);
  }
  check_device(gpus, properties->location.id, kCall);
  *pool = static_cast<CUmemoryPool>(gpus.create_pool(properties->location.id));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  BEGIN_GIVING_BACK("cuMemPoolDestroy");
  gpus.destroy_pool(pool);
  return late;
}

EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  BEGIN("cuMemPoolSetAttribute");
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      gpus.pool(pool).waits_for_others = *static_cast<const int*>(value) != 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      gpus.pool(pool).threshold = *static_cast<const cuuint64_t*>(value);
      return CUDA_SUCCESS;
  }
  violation("%s: attribute %u", kCall, attribute);
}

// Fails for a GPU that cannot be a peer. The owner always has access.
EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* users, size_t count) {
  BEGIN("cuMemPoolSetAccess");
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& user = users[i];
    check_device(gpus, user.location.id, kCall);
    if (user.location.type != CU_MEM_LOCATION_TYPE_DEVICE || user.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      violation("%s: no access of a GPU", kCall);
    }
    if (!gpus.peers() || user.location.id == gpus.pool(pool).device) return CUDA_ERROR_INVALID_DEVICE;
    gpus.pool(pool).users.insert(user.location.id);
  }
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  BEGIN("cuMemPoolTrimTo");
  gpus.pool(pool);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* memory, size_t size, CUmemoryPool pool, CUstream stream) {
  BEGIN("cuMemAllocFromPoolAsync");
  *memory = gpus.allocate_on(uncaptured_stream_of(gpus, stream, kCall), size, pool);
  return *memory != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  BEGIN("cuCtxEnablePeerAccess");
  if (flags != 0) violation("%s: flags %u", kCall, flags);
  if (device_of(peer, kCall) == current_device(kCall) || !gpus.peers()) return CUDA_ERROR_INVALID_DEVICE;
  return enable_peer(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

EXPORT CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) {
  BEGIN_GIVING_BACK("cuMemFreeAsync");
  gpus.free_on(uncaptured_stream_of(gpus, stream, kCall), memory);
  return late;
}

// An application registers host memory. The backend never calls these.
EXPORT CUresult cuMemHostRegister_v2(void* memory, size_t size, unsigned /*flags*/) {
  BEGIN("cuMemHostRegister_v2");
  gpus.register_host(current_device(kCall), value_of(memory), size);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemHostUnregister(void* memory) {
  BEGIN_GIVING_BACK("cuMemHostUnregister");
  current_device(kCall);
  gpus.unregister_host(value_of(memory));
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
  // An ordinary allocation is one mapping, and larger than asked for.
  const auto range = gpus.range_of(pointer);
  const uintptr_t start = range ? range->first : found ? found->start : 0;
  const size_t size = range ? range->second : found ? found->size : 0;
  const uintptr_t mapping = found ? found->start : 0;
  const size_t mapped = !found ? 0 : found->is_mapping ? found->size : std::max(found->size, Machine::kGranularity);
  const bool on_host = found && (found->kind == Kind::kPinned || found->kind == Kind::kRegistered);
  for (unsigned i = 0; i < count; ++i) {
    const int since = attributes[i] >= CU_POINTER_ATTRIBUTE_MAPPING_SIZE       ? 11070
                      : attributes[i] >= CU_POINTER_ATTRIBUTE_RANGE_START_ADDR ? 10020
                                                                               : 7000;
    if (driver_version() < since) return CUDA_ERROR_INVALID_VALUE;
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(values[i]) = start == 0 ? 0u
                                             : on_host  ? unsigned{CU_MEMORYTYPE_HOST}
                                                        : unsigned{CU_MEMORYTYPE_DEVICE};
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(values[i]) = found && found->kind == Kind::kManaged;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(values[i]) = found ? found->device : -2; break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(values[i]) = start; break;
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<void**>(values[i]) = found ? context_of(found->start) : nullptr;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<size_t*>(values[i]) = size; break;
      case CU_POINTER_ATTRIBUTE_MAPPED: *static_cast<int*>(values[i]) = mapped > 0; break;
      case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *static_cast<size_t*>(values[i]) = mapped; break;
      case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *static_cast<CUdeviceptr*>(values[i]) = mapping; break;
      default: violation("%s: attribute %u", kCall, attributes[i]);
    }
  }
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
  BEGIN("cuMemcpyAsync");
  check_ends(gpus, to, current(), from, current(), kCall);
  count_staged(gpus, to, from, kCall);
  gpus.wait_for_room(uncaptured_stream_of(gpus, stream, kCall), 1);
  gpus.copy(uncaptured_stream_of(gpus, stream, kCall), {{.to = to, .from = from, .size = size, .may_stage = true}},
            standin::Blocking::kUntilRead);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t size, CUstream stream) {
  BEGIN("cuMemcpyPeerAsync");
  check_ends(gpus, to, to_context, from, from_context, kCall);
  // Driver 590 succeeds then without writing anything.
  const auto target = gpus.find(to);
  if (target && target->pool != nullptr && !target->pool->users.empty()) {
    violation("%s: into a pool that others may use", kCall);
  }
  count_staged(gpus, to, from, kCall);
  gpus.copy(uncaptured_stream_of(gpus, stream, kCall),
            {{.to = to,
              .from = from,
              .size = size,
              .to_device = device_of(to_context, kCall),
              .from_device = device_of(from_context, kCall)}},
            standin::Blocking::kUntilRead);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                   CUmemcpyAttributes* attributes, size_t* attribute_starts, size_t attribute_count,
                                   size_t*, CUstream stream) {
  BEGIN("cuMemcpyBatchAsync");
  if (value_of(stream) <= kStreamLegacy) violation("%s: on the legacy default stream", kCall);
  if (count == 0 || attribute_count != 1 || attribute_starts[0] != 0)
    violation("%s: no copies or no attributes", kCall);
  if (attributes[0].srcAccessOrder != CU_MEMCPY_SRC_ACCESS_ORDER_STREAM) {
    violation("%s: sources are to be read in the order of the stream", kCall);
  }
  if (attributes[0].flags == CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE) gpus.calls().enter("overlapping batch");
  std::vector<standin::Copy> copies;
  for (size_t i = 0; i < count; ++i) {
    for (const CUdeviceptr end : {to[i], from[i]}) {
      if (!gpus.find(end)) violation("%s: %#llx is pageable host memory", kCall, end);
    }
    check_ends(gpus, to[i], current(), from[i], current(), kCall);
    copies.push_back({.to = to[i], .from = from[i], .size = sizes[i]});
  }
  gpus.wait_for_room(uncaptured_stream_of(gpus, stream, kCall), count);
  // Batches of driver 580 never wait for pinned memory, not even at both ends.
  gpus.copy(uncaptured_stream_of(gpus, stream, kCall), copies, standin::Blocking::kNone);
  return CUDA_SUCCESS;
}
