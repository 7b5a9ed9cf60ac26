// SPDX-License-Identifier: Apache-2.0
// A VkDeviceMemory, mapped as long as it lives where that is possible.
#pragma once

#include "vulkan/memory_types.h"
#include "vulkan/unique.h"

namespace arrowdevice::vulkan {

class Memory {
 public:
  // `granule`: what flushes and invalidations are rounded to, 0 for memory that needs none.
  Memory(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, VkDeviceSize granule, bool map);

  VkDeviceMemory handle() const noexcept { return memory_.get(); }
  VkDeviceSize size() const noexcept { return size_; }
  unsigned char* mapped() const noexcept { return mapped_; }  // NULL where the CPU does not reach it

  void flush(VkDeviceSize offset, VkDeviceSize size) const;       // after the CPU wrote
  void invalidate(VkDeviceSize offset, VkDeviceSize size) const;  // before the CPU reads

 private:
  VkMappedMemoryRange range(VkDeviceSize offset, VkDeviceSize size) const noexcept;

  const LogicalDevice& device_;
  const VkDeviceSize size_;
  const VkDeviceSize granule_;
  UniqueMemory memory_;
  unsigned char* mapped_ = nullptr;
};

}  // namespace arrowdevice::vulkan
