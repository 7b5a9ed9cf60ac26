// SPDX-License-Identifier: Apache-2.0
#include "hip/shareable.h"

#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace arrowdevice::hip {
namespace {

hipMemAllocationProp properties_of(int ordinal) {
  hipMemAllocationProp properties{};
  properties.type = hipMemAllocationTypePinned;
  properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  properties.location = location_of(ordinal);
  return properties;
}

}  // namespace

// Returns true if the runtime has all functions.
bool ShareableMemory::is_known() const noexcept {
  constexpr int kFirstWithThisStruct = 50'700'000;  // see hipMemAllocationProp
  return hip_.version() >= kFirstWithThisStruct && hip_.hipMemGetAllocationGranularity != nullptr &&
         hip_.hipMemCreate != nullptr && hip_.hipMemRelease != nullptr && hip_.hipMemAddressReserve != nullptr &&
         hip_.hipMemAddressFree != nullptr && hip_.hipMemMap != nullptr && hip_.hipMemUnmap != nullptr &&
         hip_.hipMemSetAccess != nullptr && hip_.hipMemExportToShareableHandle != nullptr &&
         hip_.hipMemImportFromShareableHandle != nullptr && hip_.hipMemsetAsync != nullptr;
}

int64_t ShareableMemory::granularity(int ordinal) const {
  if (!is_known() || !hip_.has(ordinal, hipDeviceAttributeVirtualMemoryManagementSupported)) return 0;
  const auto properties = properties_of(ordinal);
  size_t granularity = 0;
  hip_.check("hipMemGetAllocationGranularity",
             hip_.hipMemGetAllocationGranularity(&granularity, &properties, hipMemAllocationGranularityMinimum));
  return static_cast<int64_t>(granularity);
}

void* ShareableMemory::allocate(int ordinal, std::span<const int> users, int64_t size) {
  const auto properties = properties_of(ordinal);
  hipMemGenericAllocationHandle_t memory = nullptr;
  hip_.check("hipMemCreate", hip_.hipMemCreate(&memory, static_cast<size_t>(size), &properties, 0), bytes_text(size));
  return map(memory, users, size);
}

void ShareableMemory::free(void* address, int64_t size) {
  const auto n = static_cast<size_t>(size);
  hipMemGenericAllocationHandle_t memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = mapped_.find(address);
    memory = found->second;
    mapped_.erase(found);
  }
  const hipError_t unmapped = hip_.hipMemUnmap(address, n);
  const hipError_t released = hip_.hipMemRelease(memory);
  const hipError_t freed = hip_.hipMemAddressFree(address, n);
  hip_.check("hipMemUnmap", unmapped);
  hip_.check("hipMemRelease", released);
  hip_.check("hipMemAddressFree", freed);
}

FileDescriptor ShareableMemory::export_memory(const void* address) {
  hipMemGenericAllocationHandle_t memory = nullptr;
  {
    const std::lock_guard lock(mutex_);
    memory = mapped_.at(const_cast<void*>(address));
  }
  int number = -1;
  hip_.check("hipMemExportToShareableHandle",
             hip_.hipMemExportToShareableHandle(&number, memory, hipMemHandleTypePosixFileDescriptor, 0));
  FileDescriptor descriptor(number);
  descriptor.close_on_exec("a descriptor of HIP memory");
  return descriptor;
}

// The runtime maps any size, so the kernel is asked for the size of the memory. The runtime takes a pointer to the
// descriptor, and from 7.1 on the descriptor itself, as CUDA does.
void* ShareableMemory::import_memory(std::span<const int> users, int descriptor, int64_t size) {
  constexpr int kFirstWithValue = 70'100'000;
  if (const int64_t there = ::lseek(descriptor, 0, SEEK_END); there < size) {
    throw Error(EINVAL, there < 0 ? format("descriptor %d is no memory of a GPU", descriptor)
                                  : "the memory has less than " + bytes_text(size));
  }
  void* const handle = hip_.version() >= kFirstWithValue ? reinterpret_cast<void*>(static_cast<uintptr_t>(descriptor))
                                                         : static_cast<void*>(&descriptor);
  hipMemGenericAllocationHandle_t memory = nullptr;
  const hipError_t result = hip_.hipMemImportFromShareableHandle(&memory, handle, hipMemHandleTypePosixFileDescriptor);
  if (result == hipErrorInvalidValue) {
    hip_.forget_error();
    throw Error(EINVAL, format("descriptor %d is no memory of a GPU", descriptor), {}, result);
  }
  hip_.check("hipMemImportFromShareableHandle", result);
  return map(memory, users, size);
}

void* ShareableMemory::map(hipMemGenericAllocationHandle_t memory, std::span<const int> users, int64_t size) {
  const auto n = static_cast<size_t>(size);
  void* address = nullptr;
  const hipError_t reserved = hip_.hipMemAddressReserve(&address, n, 0, nullptr, 0);
  const hipError_t mapped = reserved == hipSuccess ? hip_.hipMemMap(address, n, 0, memory, 0) : reserved;
  try {
    hip_.check("hipMemAddressReserve", reserved, bytes_text(size));
    hip_.check("hipMemMap", mapped, bytes_text(size));
    std::vector<hipMemAccessDesc> access;
    for (const int user : users) access.push_back({location_of(user), hipMemAccessFlagsProtReadWrite});
    hip_.check("hipMemSetAccess", hip_.hipMemSetAccess(address, n, access.data(), access.size()), bytes_text(size));
    const std::lock_guard lock(mutex_);
    mapped_.emplace(address, memory);
  } catch (...) {
    bool is_clean = true;
    if (mapped == hipSuccess) is_clean &= hip_.hipMemUnmap(address, n) == hipSuccess;
    is_clean &= hip_.hipMemRelease(memory) == hipSuccess;
    if (reserved == hipSuccess) is_clean &= hip_.hipMemAddressFree(address, n) == hipSuccess;
    if (!is_clean) hip_.forget_error();
    throw;
  }
  return address;
}

}  // namespace arrowdevice::hip
