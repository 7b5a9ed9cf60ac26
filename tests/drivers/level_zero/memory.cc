// SPDX-License-Identifier: Apache-2.0
// Memory, and external memory, which other processes can open.
#include <level_zero/ze_api.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "level_zero/calls.h"
#include "level_zero/engines.h"

using namespace standin::level_zero;  // NOLINT: what every line is written with
using standin::Kind;
using standin::Machine;
using standin::violation;

namespace {

bool contexts_know_all() { return number("STANDIN_ZE_OTHER_CONTEXTS", 0) != 0; }
void* pointer_to(uintptr_t address) { return reinterpret_cast<void*>(address); }

ze_result_t allocate(Kind kind, ze_context_handle_t context, int device, size_t size, size_t alignment, void** out) {
  objects().check_context(context);
  if (size == 0) violation("an allocation of 0 bytes");
  constexpr size_t kPage = 4096;
  if ((alignment & (alignment - 1)) != 0 || alignment > kPage) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  const uintptr_t memory = standin::machine().allocate(kind, device, size);
  if (memory == 0) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  objects().keep_memory(context, memory);
  *out = pointer_to(memory);
  return ZE_RESULT_SUCCESS;
}

// Memory that leaves the process, or comes from another one. It is mapped in a range of its own. The driver owns the
// descriptor, which it makes once.
struct External {
  std::shared_ptr<standin::Physical> physical;
  size_t size;
  arrowdevice::FileDescriptor descriptor;
};

std::mutex external_mutex;
auto& externals() {
  static auto* const made = new std::map<uintptr_t, External>;
  return *made;
}

ze_result_t add_external(ze_context_handle_t context, std::shared_ptr<standin::Physical> physical, void** out) {
  objects().check_context(context);
  Machine& gpus = standin::machine();
  if (physical == nullptr) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  const auto size = static_cast<size_t>(physical->pages->size());
  const uintptr_t start = gpus.reserve(size);
  gpus.map(start, size, physical);
  std::set<int> everyone;
  for (int i = 0; i < gpus.devices(); ++i) everyone.insert(i);
  gpus.set_users(start, size, everyone);
  objects().keep_memory(context, start);
  const std::lock_guard lock(external_mutex);
  externals().emplace(start, External{std::move(physical), size, {}});
  *out = pointer_to(start);
  return ZE_RESULT_SUCCESS;
}

// Returns the driver's descriptor of memory, or -1 for memory that cannot leave the process.
int descriptor_of(uintptr_t start) {
  const std::lock_guard lock(external_mutex);
  const auto found = externals().find(start);
  if (found == externals().end() || found->second.physical->is_imported) return -1;
  auto& external = found->second;
  if (!external.descriptor) external.descriptor = external.physical->pages->duplicate();
  return external.descriptor.get();
}

// Returns false for other memory.
bool free_external(uintptr_t start) {
  External gone;
  {
    const std::lock_guard lock(external_mutex);
    const auto found = externals().find(start);
    if (found == externals().end()) return false;
    gone = std::move(found->second);
    externals().erase(found);
  }
  standin::machine().unmap(start, gone.size);
  standin::machine().unreserve(start, gone.size);
  return true;
}

// Finds a struct in a chain.
template <typename Struct>
const Struct* find_in(const void* chain, ze_structure_type_t type) {
  for (const auto* one = static_cast<const ze_base_desc_t*>(chain); one != nullptr;
       one = static_cast<const ze_base_desc_t*>(one->pNext)) {
    if (one->stype == type) return reinterpret_cast<const Struct*>(one);
  }
  return nullptr;
}

// Returns true if the size exceeds the device's limit for an allocation and the request does not relax that
// limit.
bool is_too_large(const Machine& gpus, size_t size, const void* next) {
  const auto* const relaxed =
      find_in<ze_relaxed_allocation_limits_exp_desc_t>(next, ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC);
  const bool is_relaxed = relaxed != nullptr && relaxed->flags == ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE;
  return size > gpus.memory() / 2 && !is_relaxed;
}

}  // namespace

EXPORT ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* description,
                                    size_t size, size_t alignment, ze_device_handle_t device, void** out) {
  BEGIN("zeMemAllocDevice");
  check_type(description, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, description->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  const int ordinal = ordinal_of(device, kCall);
  // The size of imported memory is that of the memory. The driver does not look at the size of the request.
  if (const auto* const imported =
          find_in<ze_external_memory_import_fd_t>(description->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD)) {
    if (imported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    try {
      return add_external(context, gpus.import_physical(ordinal, imported->fd), out);
    } catch (const arrowdevice::Error&) {
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
  }
  if (const auto* const exported = find_in<ze_external_memory_export_desc_t>(
          description->pNext, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC)) {
    if (exported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) violation("%s: flags %u", kCall, exported->flags);
    return add_external(context, gpus.create_physical(ordinal, size), out);
  }
  return allocate(Kind::kDevice, context, ordinal, size, alignment, out);
}

EXPORT ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* description, size_t size,
                                  size_t alignment, void** out) {
  BEGIN("zeMemAllocHost");
  check_type(description, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, description->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return allocate(Kind::kPinned, context, 0, size, alignment, out);
}

EXPORT ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* of_device,
                                    const ze_host_mem_alloc_desc_t* of_host, size_t size, size_t alignment,
                                    ze_device_handle_t device, void** out) {
  BEGIN("zeMemAllocShared");
  check_type(of_device, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, kCall);
  check_type(of_host, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, kCall);
  if (is_too_large(gpus, size, of_device->pNext)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  return allocate(Kind::kManaged, context, ordinal_of(device, kCall), size, alignment, out);
}

EXPORT ze_result_t zeMemFree(ze_context_handle_t context, void* memory) {
  BEGIN_GIVING_BACK("zeMemFree");
  const auto found = gpus.find(value_of(memory));
  objects().forget_memory(context, value_of(memory));
  if (free_external(value_of(memory))) return late;
  gpus.free(found ? found->kind : Kind::kDevice, found ? found->device : 0, value_of(memory));
  return late;
}

EXPORT ze_result_t zeMemGetAllocProperties(ze_context_handle_t context, const void* memory,
                                           ze_memory_allocation_properties_t* out, ze_device_handle_t* device) {
  BEGIN("zeMemGetAllocProperties");
  objects().check_context(context);
  check_type(out, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, kCall);
  const auto found = gpus.find(value_of(memory));
  out->type = ZE_MEMORY_TYPE_UNKNOWN;
  if (!found || !(contexts_know_all() || objects().is_of_context(context, found->start))) return ZE_RESULT_SUCCESS;
  out->type = found->kind == Kind::kDevice   ? ZE_MEMORY_TYPE_DEVICE
              : found->kind == Kind::kPinned ? ZE_MEMORY_TYPE_HOST
                                             : ZE_MEMORY_TYPE_SHARED;
  if (out->pNext != nullptr) {
    auto* const exported = static_cast<ze_external_memory_export_fd_t*>(out->pNext);
    if (exported->stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD ||
        exported->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) {
      violation("%s: the struct does not say what it is", kCall);
    }
    exported->fd = descriptor_of(found->start);
    if (exported->fd < 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  }
  if (device != nullptr) {
    *device = found->kind == Kind::kPinned ? nullptr : devices()[static_cast<size_t>(found->device)];
  }
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void* memory, void** base, size_t* size) {
  BEGIN("zeMemGetAddressRange");
  objects().check_context(context);
  const auto found = gpus.find(value_of(memory));
  if (!found) violation("%s: %p is no memory of the driver", kCall, memory);
  if (base != nullptr) *base = pointer_to(found->start);
  if (size != nullptr) *size = found->size;
  return ZE_RESULT_SUCCESS;
}
