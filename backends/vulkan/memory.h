// SPDX-License-Identifier: Apache-2.0
// A VkDeviceMemory. It stays mapped for its whole life if the memory type allows it.
#pragma once

#include "vulkan/memory_types.h"
#include "vulkan/unique.h"

namespace arrowdevice::vulkan {

class Memory {
 public:
  // Flushes and invalidations are rounded to `granule`. It is 0 for memory that needs neither.
  Memory(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, VkDeviceSize granule, bool map);

  VkDeviceMemory handle() const noexcept { return memory_.get(); }
  VkDeviceSize size() const noexcept { return size_; }
  unsigned char* mapped() const noexcept { return mapped_; }  // NULL if the CPU cannot access it

  void flush(VkDeviceSize offset, VkDeviceSize size) const;       // call after a CPU write
  void invalidate(VkDeviceSize offset, VkDeviceSize size) const;  // call before a CPU read

 private:
  VkMappedMemoryRange range(VkDeviceSize offset, VkDeviceSize size) const noexcept;

  const LogicalDevice& device_;
  const VkDeviceSize size_;
  const VkDeviceSize granule_;
  UniqueMemory memory_;
  unsigned char* mapped_ = nullptr;
};

}  // namespace arrowdevice::vulkan
