// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can open, by HIP's functions for virtual memory. It leaves the process as a file
// descriptor.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>

#include "base/file_descriptor.h"
#include "hip/library.h"

namespace arrowdevice::hip {

// The functions of cuda_like::Driver. The library must outlive this object.
class ShareableMemory {
 public:
  explicit ShareableMemory(const Library& hip) noexcept : hip_(hip) {}

  // Returns 0 if the runtime or the GPU has no such memory.
  int64_t granularity(int ordinal) const;

  void* allocate(int ordinal, std::span<const int> users, int64_t size);
  void free(void* address, int64_t size);
  FileDescriptor export_memory(const void* address);
  void* import_memory(std::span<const int> users, int descriptor, int64_t size);

 private:
  bool is_known() const noexcept;
  // Maps memory at an address of its own. Keeps the handle, because hipMemRetainAllocationHandle() of some versions
  // counts no reference.
  void* map(hipMemGenericAllocationHandle_t memory, std::span<const int> users, int64_t size);

  const Library& hip_;
  std::mutex mutex_;                                         // guards the member below
  std::map<void*, hipMemGenericAllocationHandle_t> mapped_;  // memory of map(), by its address
};

}  // namespace arrowdevice::hip
