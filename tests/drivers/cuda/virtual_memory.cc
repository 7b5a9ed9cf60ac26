// SPDX-License-Identifier: Apache-2.0
// Virtual memory, which other processes can open. A mapping is an allocation of the machine.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "cuda/calls.h"

using namespace standin::cuda;  // NOLINT: what every line is written with
using standin::Machine;
using standin::violation;

namespace {

// Ends the process unless the properties are those of a GPU's memory that can leave as a descriptor.
void check_shareable(const Machine& gpus, const CUmemAllocationProp& properties, const char* call) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED || properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      properties.win32HandleMetaData != nullptr) {
    violation("%s: no memory of a GPU", call);
  }
  if (properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    violation("%s: the memory cannot leave as a descriptor", call);
  }
  const auto* const flags = reinterpret_cast<const unsigned char*>(&properties.allocFlags);
  if (std::any_of(flags, flags + sizeof properties.allocFlags, [](unsigned char byte) { return byte != 0; })) {
    violation("%s: a flag is not 0", call);
  }
  check_device(gpus, properties.location.id, call);
}

}  // namespace

EXPORT CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                              CUmemAllocationGranularity_flags what) {
  BEGIN("cuMemGetAllocationGranularity");
  check_shareable(gpus, *properties, kCall);
  if (what != CU_MEM_ALLOC_GRANULARITY_MINIMUM) violation("%s: flags %u", kCall, what);
  *bytes = Machine::kGranularity;
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* memory, size_t size, const CUmemAllocationProp* properties,
                            unsigned long long flags) {
  BEGIN("cuMemCreate");
  check_shareable(gpus, *properties, kCall);
  check_granularity(size, kCall);
  if (flags != 0) violation("%s: flags %llu", kCall, flags);
  auto made = gpus.create_physical(properties->location.id, size);
  if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = gpus.add_handle(std::move(made));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle memory) {
  BEGIN_GIVING_BACK("cuMemRelease");
  gpus.drop_handle(memory);
  return late;
}

EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* memory, void* address) {
  BEGIN("cuMemRetainAllocationHandle");
  *memory = gpus.add_handle(gpus.physical_at(value_of(address)));
  return CUDA_SUCCESS;
}

// The descriptor does not close on exec.
EXPORT CUresult cuMemExportToShareableHandle(void* handle, CUmemGenericAllocationHandle memory,
                                             CUmemAllocationHandleType type, unsigned long long flags) {
  BEGIN("cuMemExportToShareableHandle");
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || flags != 0) violation("%s: type %u", kCall, type);
  const auto exported = gpus.physical_of(memory);
  if (exported->is_imported) return CUDA_ERROR_NOT_SUPPORTED;
  const int number = ::dup(exported->pages->duplicate().get());
  if (number < 0) return CUDA_ERROR_UNKNOWN;
  *static_cast<int*>(handle) = number;
  return CUDA_SUCCESS;
}

// Does not take the descriptor.
EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* memory, void* handle,
                                               CUmemAllocationHandleType type) {
  BEGIN("cuMemImportFromShareableHandle");
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) violation("%s: type %u", kCall, type);
  try {
    *memory = gpus.add_handle(gpus.import_physical(current_device(kCall), static_cast<int>(value_of(handle))));
    return CUDA_SUCCESS;
  } catch (const arrowdevice::Error&) {
    return CUDA_ERROR_INVALID_VALUE;
  }
}

EXPORT CUresult cuMemAddressReserve(CUdeviceptr* range, size_t size, size_t alignment, CUdeviceptr wanted,
                                    unsigned long long flags) {
  BEGIN("cuMemAddressReserve");
  check_granularity(size, kCall);
  if (alignment != 0 || wanted != 0 || flags != 0) violation("%s: a wish for the address", kCall);
  *range = gpus.reserve(size);
  return *range != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

EXPORT CUresult cuMemAddressFree(CUdeviceptr range, size_t size) {
  BEGIN_GIVING_BACK("cuMemAddressFree");
  gpus.unreserve(range, size);
  return late;
}

EXPORT CUresult cuMemMap(CUdeviceptr start, size_t size, size_t offset, CUmemGenericAllocationHandle memory,
                         unsigned long long flags) {
  BEGIN("cuMemMap");
  check_granularity(size, kCall);
  check_granularity(start, kCall);
  if (offset != 0 || flags != 0) violation("%s: an offset or flags", kCall);
  auto mapped = gpus.physical_of(memory);
  if (size > static_cast<size_t>(mapped->pages->size())) return CUDA_ERROR_INVALID_VALUE;
  gpus.map(start, size, std::move(mapped));
  return CUDA_SUCCESS;
}

EXPORT CUresult cuMemUnmap(CUdeviceptr start, size_t size) {
  BEGIN_GIVING_BACK("cuMemUnmap");
  gpus.unmap(start, size);
  return late;
}

// Fails for a GPU that cannot be a peer.
EXPORT CUresult cuMemSetAccess(CUdeviceptr start, size_t size, const CUmemAccessDesc* users, size_t count) {
  BEGIN("cuMemSetAccess");
  const int owner = gpus.physical_at(start)->device;
  std::set<int> granted;
  for (size_t i = 0; i < count; ++i) {
    const CUmemAccessDesc& user = users[i];
    check_device(gpus, user.location.id, kCall);
    if (user.location.type != CU_MEM_LOCATION_TYPE_DEVICE || user.flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
      violation("%s: no access of a GPU", kCall);
    }
    if (user.location.id != owner && !gpus.peers()) return CUDA_ERROR_INVALID_DEVICE;
    granted.insert(user.location.id);
  }
  gpus.set_users(start, size, granted);
  return CUDA_SUCCESS;
}
