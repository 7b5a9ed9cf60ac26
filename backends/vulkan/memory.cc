// SPDX-License-Identifier: Apache-2.0
#include "vulkan/memory.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

UniqueMemory allocate(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size) {
  // Fails early, because drivers may crash on a request larger than the heap.
  if (size > type.heap_size) {
    throw Error(ENOMEM, format("%llu bytes on %s, whose heap holds %llu", static_cast<unsigned long long>(size),
                               device.name().c_str(), static_cast<unsigned long long>(type.heap_size)));
  }
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.allocationSize = size;
  info.memoryTypeIndex = type.index;
  return make_memory(device, info);
}

}  // namespace

Memory::Memory(const LogicalDevice& device, const MemoryType& type, VkDeviceSize size, VkDeviceSize granule, bool map)
    : device_(device), size_(size), granule_(granule), memory_(allocate(device, type, size)) {
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
