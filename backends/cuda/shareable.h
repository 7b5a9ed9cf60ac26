// SPDX-License-Identifier: Apache-2.0
// Memory that other processes can open, by CUDA's functions for virtual memory. It leaves the process as a file
// descriptor.
#pragma once

#include <cstdint>
#include <span>

#include "base/file_descriptor.h"
#include "cuda/library.h"

namespace arrowdevice::cuda {

// The functions of cuda_like::Driver. The library must outlive this object.
class ShareableMemory {
 public:
  explicit ShareableMemory(const Library& cuda) noexcept : cuda_(cuda) {}

  // Returns 0 if the driver or the GPU has no such memory.
  int64_t granularity(int ordinal) const;

  // The memory is freed with its last mapping in any process and its last descriptor.
  void* allocate(int ordinal, std::span<const int> users, int64_t size) const;
  void free(void* memory, int64_t size) const;
  FileDescriptor export_memory(const void* memory) const;
  void* import_memory(std::span<const int> users, int descriptor, int64_t size) const;

 private:
  bool is_known() const noexcept;
  CUmemAllocationProp properties_of(int ordinal) const;
  // Maps memory at an address of its own, and releases the handle, because the mapping keeps the memory.
  void* map_and_release(CUmemGenericAllocationHandle memory, std::span<const int> users, int64_t size) const;

  const Library& cuda_;
};

}  // namespace arrowdevice::cuda
