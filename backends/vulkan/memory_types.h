// SPDX-License-Identifier: Apache-2.0
// Which memory type serves which need.
#pragma once

#include <cstdint>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

enum class Need {
  kDevice,    // where arrays lie: device-local, and mapped too where that costs no capacity
  kUpload,    // the CPU writes, the device reads
  kDownload,  // the device writes, the CPU reads
};

// What a memory type that was chosen gives.
struct MemoryType {
  uint32_t index = 0;
  VkMemoryPropertyFlags flags = 0;
  VkDeviceSize heap_size = 0;

  bool is_mappable() const noexcept { return (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0; }
  bool is_coherent() const noexcept { return (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0; }
};

// The best of the types that `allowed`, a VkMemoryRequirements::memoryTypeBits, names. Throws ENOTSUP for none.
MemoryType choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Need need);

}  // namespace arrowdevice::vulkan
