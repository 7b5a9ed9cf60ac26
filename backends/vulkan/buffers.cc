// SPDX-License-Identifier: Apache-2.0
#include "vulkan/buffers.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {

Buffers::Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings)
    : device_(device), physical_(physical), settings_(std::move(settings)) {
  // The types and the alignment are the same for all buffers with the same description.
  const auto sample = make_buffer(device, describe(1, kBufferUsage));
  const auto requirements = requirements_of(device, sample.get());
  alignment_ = requirements.alignment;
  type_ = choose_memory_type(physical.memory, requirements.memoryTypeBits, Need::kDevice);
}

VkBufferCreateInfo Buffers::describe(VkDeviceSize size, VkBufferUsageFlags usage, const void* next) const noexcept {
  const bool is_shared = settings_.families.size() > 1;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = next;
  info.size = size;
  info.usage = usage;
  info.sharingMode = is_shared ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE;
  info.queueFamilyIndexCount = is_shared ? static_cast<uint32_t>(settings_.families.size()) : 0;
  info.pQueueFamilyIndices = is_shared ? settings_.families.data() : nullptr;
  return info;
}

VkBuffer Buffers::allocate(VkDeviceSize size) {
  if (size > type_.heap_size) {
    throw Error(ENOMEM, format("%llu bytes on %s, whose heap holds %llu", static_cast<unsigned long long>(size),
                               device_.name().c_str(), static_cast<unsigned long long>(type_.heap_size)));
  }
  OwnedBuffer made = create(size);
  const auto requirements = requirements_of(device_, made.buffer.get());
  // A sub-buffer at the end needs its own required size, which the driver rounds up too.
  made.memory = allocate_memory(type_, std::max(requirements.size, round_up(size, alignment_)));
  return add(std::move(made));
}

OwnedBuffer Buffers::create(VkDeviceSize size, VkExternalMemoryHandleTypeFlags external) const {
  VkExternalMemoryBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  info.handleTypes = external;
  OwnedBuffer made;
  made.buffer = make_buffer(device_, describe(size, kBufferUsage, external != 0 ? &info : nullptr));
  made.place.size = size;
  made.place.external = external;
  return made;
}

std::unique_ptr<Memory> Buffers::allocate_memory(const MemoryType& type, VkDeviceSize size, const void* next) const {
  const bool is_mapped = settings_.map && type.is_mappable();
  const bool is_flushed = is_mapped && (settings_.noncoherent || !type.is_coherent());
  const VkDeviceSize granule = is_flushed ? physical_.properties.limits.nonCoherentAtomSize : 0;
  return std::make_unique<Memory>(device_, type, size, granule, is_mapped, next);
}

VkBuffer Buffers::add(OwnedBuffer whole) {
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), whole.buffer.get(), whole.memory->handle(), 0));
  whole.place.whole = whole.buffer.get();
  whole.place.memory = whole.memory.get();
  return keep(std::move(whole));
}

VkBuffer Buffers::write_buffer(VkBuffer parent, VkDeviceSize offset, VkDeviceSize size) {
  const auto place = find(parent);
  if (!place) {
    throw Error(EINVAL,
                format("VkBuffer %p was not made by the library: its memory is not known, so that no part of it "
                       "can be a buffer of its own",
                       static_cast<void*>(parent)));
  }
  if (offset > place->size || size > place->size - offset) {
    throw Error(EINVAL, format("a sub-buffer of %llu bytes at offset %llu of a buffer of %llu bytes",
                               static_cast<unsigned long long>(size), static_cast<unsigned long long>(offset),
                               static_cast<unsigned long long>(place->size)));
  }
  const VkDeviceSize start = place->offset + offset;
  if (start % alignment_ != 0) {
    throw Error(EINVAL, format("a part begins at %llu, which is not a multiple of %llu",
                               static_cast<unsigned long long>(offset), static_cast<unsigned long long>(alignment_)));
  }
  OwnedBuffer made = create(size, place->external);
  const auto requirements = requirements_of(device_, made.buffer.get());
  if (start + requirements.size > place->memory->size()) {
    throw Error(ENOTSUP, format("%s needs %llu bytes for a sub-buffer of %llu bytes at the end of its allocation",
                                device_.name().c_str(), static_cast<unsigned long long>(requirements.size),
                                static_cast<unsigned long long>(size)));
  }
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), made.buffer.get(), place->memory->handle(), start));
  made.place = {place->whole, start, size, place->memory, place->external};
  return keep(std::move(made));
}

std::optional<Place> Buffers::find(VkBuffer buffer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.place);
}

const OwnedBuffer* Buffers::find_whole(VkBuffer buffer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  return found != entries_.end() && found->second.memory != nullptr ? &found->second : nullptr;
}

VkBuffer Buffers::keep(OwnedBuffer made) {
  const VkBuffer buffer = made.buffer.get();
  const std::lock_guard lock(mutex_);
  entries_.emplace(buffer, std::move(made));
  return buffer;
}

OwnedBuffer Buffers::forget(VkBuffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  assert(found != entries_.end());
  OwnedBuffer forgotten = std::move(found->second);
  entries_.erase(found);
  return forgotten;
}

}  // namespace arrowdevice::vulkan
