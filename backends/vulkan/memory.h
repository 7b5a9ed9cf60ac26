// SPDX-License-Identifier: Apache-2.0
// Memory types of a device, and allocations of them.
#pragma once

#include <cstdint>

#include "vulkan/functions.h"
#include "vulkan/logical_device.h"

namespace arrowdevice::vulkan {

enum class Need {
  kDevice,    // memory of arrays: device-local, and mapped too if that costs no capacity
  kUpload,    // the CPU writes, the device reads
  kDownload,  // the device writes, the CPU reads
};

// The properties of a chosen memory type.
struct MemoryType {
  uint32_t index = 0;
  VkMemoryPropertyFlags flags = 0;
  VkDeviceSize heap_size = 0;

  bool is_mappable() const noexcept { return (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0; }
  bool is_coherent() const noexcept { return (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0; }
};

constexpr VkDeviceSize round_up(VkDeviceSize size, VkDeviceSize alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// Returns the best memory type in `allowed`, a VkMemoryRequirements::memoryTypeBits. Throws ENOTSUP if no type fits.
MemoryType choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Need need);

// A VkDeviceMemory. It stays mapped for its whole life if the memory type allows it.
class Memory {
 public:
  // Flushes and invalidations are rounded to `granule`. It is 0 for memory that needs neither. `next` continues the
  // chain of VkMemoryAllocateInfo.
  Memory(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, VkDeviceSize granule, bool map,
         const void* next = nullptr);

  VkDeviceMemory handle() const noexcept { return memory_.get(); }
  uint32_t type() const noexcept { return type_; }  // the index of the memory type
  VkDeviceSize size() const noexcept { return size_; }
  unsigned char* mapped() const noexcept { return mapped_; }  // NULL if the CPU cannot access it

  void flush(VkDeviceSize offset, VkDeviceSize size) const;       // call after a CPU write
  void invalidate(VkDeviceSize offset, VkDeviceSize size) const;  // call before a CPU read

 private:
  VkMappedMemoryRange range(VkDeviceSize offset, VkDeviceSize size) const noexcept;

  const LogicalDevice& device_;
  const uint32_t type_;
  const VkDeviceSize size_;
  const VkDeviceSize granule_;
  UniqueMemory memory_;
  unsigned char* mapped_ = nullptr;
};

}  // namespace arrowdevice::vulkan
