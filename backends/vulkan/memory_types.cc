// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory_types.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

constexpr VkMemoryPropertyFlags kDeviceLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr VkMemoryPropertyFlags kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
// Protected, lazily allocated and device-coherent (AMD) memory has other purposes.
constexpr VkMemoryPropertyFlags kUsable = kDeviceLocal | kVisible | kCoherent | kCached;

class Chooser {
 public:
  Chooser(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed) : memory_(memory), allowed_(allowed) {}

  // Returns the first type that has all flags of `all`, because the specification orders types by speed.
  std::optional<MemoryType> with(VkMemoryPropertyFlags all) const {
    for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i) {
      const auto& type = memory_.memoryTypes[i];
      if ((allowed_ >> i & 1) == 0 || (type.propertyFlags & ~kUsable) != 0) continue;
      if ((type.propertyFlags & all) == all) {
        return MemoryType{i, type.propertyFlags, memory_.memoryHeaps[type.heapIndex].size};
      }
    }
    return std::nullopt;
  }

 private:
  const VkPhysicalDeviceMemoryProperties& memory_;
  const uint32_t allowed_;
};

}  // namespace

MemoryType choose_memory_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, Need need) {
  const Chooser types(memory, allowed);
  std::optional<MemoryType> chosen;
  if (need == Need::kDevice) {
    chosen = types.with(kDeviceLocal);
    // Requires a heap that is not smaller, because a small mapped window would limit the capacity for arrays.
    const auto mapped = types.with(kDeviceLocal | kVisible);
    if (mapped && mapped->heap_size >= chosen->heap_size) chosen = mapped;
    if (!chosen) chosen = types.with(0);
  } else {
    const auto first = need == Need::kUpload ? kCoherent : kCached;
    for (const auto more : {first | kCoherent | kCached, first | kCoherent, first, VkMemoryPropertyFlags{0}}) {
      if (need == Need::kUpload && (more & kCached) != 0) continue;  // write-combined memory is as good, and cheaper
      chosen = types.with(kVisible | more);
      if (chosen) break;
    }
  }
  if (!chosen) throw Error(ENOTSUP, "the device has no memory type for this need");
  return *chosen;
}

}  // namespace arrowdevice::vulkan
