// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory.h"

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

UniqueMemory allocate(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, const void* next) {
  // Fails early, because drivers may crash on a request larger than the heap.
  if (size > type.heap_size) {
    throw Error(ENOMEM, format("%llu bytes on %s, whose heap holds %llu", static_cast<unsigned long long>(size),
                               device.name().c_str(), static_cast<unsigned long long>(type.heap_size)));
  }
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = next;
  info.allocationSize = size;
  info.memoryTypeIndex = type.index;
  return make_memory(device, info);
}

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

Memory::Memory(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, VkDeviceSize granule, bool map,
               const void* next)
    : device_(device), type_(type.index), size_(size), granule_(granule), memory_(allocate(device, type, size, next)) {
  if (!map) return;
  void* mapped = nullptr;
  device.check("vkMapMemory", device->vkMapMemory(device.handle(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &mapped));
  mapped_ = static_cast<unsigned char*>(mapped);
}

VkMappedMemoryRange Memory::range(VkDeviceSize offset, VkDeviceSize size) const noexcept {
  const VkDeviceSize begin = offset / granule_ * granule_;
  const VkDeviceSize end = (offset + size + granule_ - 1) / granule_ * granule_;
  VkMappedMemoryRange range{};
  range.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE;
  range.memory = memory_.get();
  range.offset = begin;
  range.size = end >= size_ ? VK_WHOLE_SIZE : end - begin;
  return range;
}

void Memory::flush(VkDeviceSize offset, VkDeviceSize size) const {
  if (granule_ == 0) return;
  const auto flushed = range(offset, size);
  device_.check("vkFlushMappedMemoryRanges", device_->vkFlushMappedMemoryRanges(device_.handle(), 1, &flushed));
}

void Memory::invalidate(VkDeviceSize offset, VkDeviceSize size) const {
  if (granule_ == 0) return;
  const auto invalidated = range(offset, size);
  device_.check("vkInvalidateMappedMemoryRanges",
                device_->vkInvalidateMappedMemoryRanges(device_.handle(), 1, &invalidated));
}

}  // namespace arrowdevice::vulkan
