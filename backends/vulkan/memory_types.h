// SPDX-License-Identifier: Apache-2.0
// Chooses the memory type for a purpose.
#pragma once

#include <cstdint>

#include "vulkan/functions.h"

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

// Returns the best memory type in `allowed`, a VkMemoryRequirements::memoryTypeBits. Throws ENOTSUP if no type fits.
MemoryType choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Need need);

}  // namespace arrowdevice::vulkan
