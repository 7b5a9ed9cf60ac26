// SPDX-License-Identifier: Apache-2.0
#include "cuda/shareable.h"

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace arrowdevice::cuda {

// Returns true if the driver has all functions.
bool ShareableMemory::is_known() const noexcept {
  return cuda_.cuMemGetAllocationGranularity != nullptr && cuda_.cuMemCreate != nullptr &&
         cuda_.cuMemRelease != nullptr && cuda_.cuMemAddressReserve != nullptr && cuda_.cuMemAddressFree != nullptr &&
         cuda_.cuMemMap != nullptr && cuda_.cuMemUnmap != nullptr && cuda_.cuMemSetAccess != nullptr &&
         cuda_.cuMemExportToShareableHandle != nullptr && cuda_.cuMemImportFromShareableHandle != nullptr &&
         cuda_.cuMemRetainAllocationHandle != nullptr && cuda_.cuMemsetD8Async != nullptr;
}

int64_t ShareableMemory::granularity(int ordinal) const {
  if (!is_known()) return 0;
  const CUdevice device = cuda_.device_at(ordinal);
  if (!cuda_.has(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) ||
      !cuda_.has(device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
    return 0;
  }
  const auto properties = properties_of(ordinal);
  size_t granularity = 0;
  cuda_.check("cuMemGetAllocationGranularity",
              cuda_.cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return static_cast<int64_t>(granularity);
}

void* ShareableMemory::allocate(int ordinal, std::span<const int> users, int64_t size) const {
  const auto properties = properties_of(ordinal);
  CUmemGenericAllocationHandle memory = 0;
  cuda_.check("cuMemCreate", cuda_.cuMemCreate(&memory, static_cast<size_t>(size), &properties, 0), bytes_text(size));
  return map_and_release(memory, users, size);
}

void ShareableMemory::free(void* memory, int64_t size) const {
  const auto n = static_cast<size_t>(size);
  const CUresult unmapped = cuda_.cuMemUnmap(address_of(memory), n);
  const CUresult freed = cuda_.cuMemAddressFree(address_of(memory), n);
  cuda_.check("cuMemUnmap", unmapped);
  cuda_.check("cuMemAddressFree", freed);
}

FileDescriptor ShareableMemory::export_memory(const void* memory) const {
  CUmemGenericAllocationHandle handle = 0;
  cuda_.check("cuMemRetainAllocationHandle", cuda_.cuMemRetainAllocationHandle(&handle, const_cast<void*>(memory)));
  int number = -1;
  const CUresult exported =
      cuda_.cuMemExportToShareableHandle(&number, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  FileDescriptor descriptor(exported == CUDA_SUCCESS ? number : -1);
  const CUresult released = cuda_.cuMemRelease(handle);
  cuda_.check("cuMemExportToShareableHandle", exported);
  cuda_.check("cuMemRelease", released);
  descriptor.close_on_exec("a descriptor of CUDA memory");
  return descriptor;
}

void* ShareableMemory::import_memory(std::span<const int> users, int descriptor, int64_t size) const {
  CUmemGenericAllocationHandle memory = 0;
  const CUresult result = cuda_.cuMemImportFromShareableHandle(
      &memory, reinterpret_cast<void*>(static_cast<uintptr_t>(descriptor)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    throw Error(EINVAL, format("descriptor %d is no memory of a GPU", descriptor), {}, result);
  }
  cuda_.check("cuMemImportFromShareableHandle", result);
  return map_and_release(memory, users, size);
}

CUmemAllocationProp ShareableMemory::properties_of(int ordinal) const {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = cuda_.location_of(ordinal);
  return properties;
}

void* ShareableMemory::map_and_release(CUmemGenericAllocationHandle memory, std::span<const int> users,
                                       int64_t size) const {
  const auto n = static_cast<size_t>(size);
  CUdeviceptr address = 0;
  const CUresult reserved = cuda_.cuMemAddressReserve(&address, n, 0, 0, 0);
  const CUresult mapped = reserved == CUDA_SUCCESS ? cuda_.cuMemMap(address, n, 0, memory, 0) : reserved;
  const CUresult released = cuda_.cuMemRelease(memory);
  try {
    cuda_.check("cuMemAddressReserve", reserved, bytes_text(size));
    if (mapped == CUDA_ERROR_INVALID_VALUE) {
      throw Error(EINVAL, "the memory has less than " + bytes_text(size), {}, mapped);
    }
    cuda_.check("cuMemMap", mapped, bytes_text(size));
    cuda_.check("cuMemRelease", released);
    std::vector<CUmemAccessDesc> access;
    for (const int user : users) access.push_back({cuda_.location_of(user), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    cuda_.check("cuMemSetAccess", cuda_.cuMemSetAccess(address, n, access.data(), access.size()), bytes_text(size));
  } catch (...) {
    if (mapped == CUDA_SUCCESS) static_cast<void>(cuda_.cuMemUnmap(address, n));
    if (reserved == CUDA_SUCCESS) static_cast<void>(cuda_.cuMemAddressFree(address, n));
    throw;
  }
  return pointer_to(address);
}

}  // namespace arrowdevice::cuda
