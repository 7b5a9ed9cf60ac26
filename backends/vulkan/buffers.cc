// SPDX-License-Identifier: Apache-2.0
#include "vulkan/buffers.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

// Usage by consumers: compute shaders read and write columns through descriptors, and plots use them as vertices and
// indices.
constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                                      VK_BUFFER_USAGE_INDEX_BUFFER_BIT;

VkMemoryRequirements requirements_of(const LogicalDevice& device, VkBuffer buffer) {
  VkMemoryRequirements requirements{};
  device->vkGetBufferMemoryRequirements(device.handle(), buffer, &requirements);
  return requirements;
}

VkDeviceSize round_up(VkDeviceSize size, VkDeviceSize alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

Buffers::Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings)
    : device_(device), settings_(std::move(settings)) {
  // The types and the alignment are the same for all buffers with the same description.
  const auto sample = make_buffer(device, describe(1, kUsage));
  const auto requirements = requirements_of(device, sample.get());
  alignment_ = requirements.alignment;
  type_ = choose_memory_type(physical.memory, requirements.memoryTypeBits, Need::kDevice);
  const bool is_mapped = settings_.map && type_.is_mappable();
  if (is_mapped && (settings_.noncoherent || !type_.is_coherent())) {
    granule_ = physical.properties.limits.nonCoherentAtomSize;
  }
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
  Entry entry;
  entry.buffer = make_buffer(device_, describe(size, kUsage));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  // A sub-buffer at the end needs its own required size, which the driver rounds up too.
  const VkDeviceSize needed = std::max(requirements.size, round_up(size, alignment_));
  entry.memory = std::make_unique<Memory>(device_, type_, needed, granule_, settings_.map && type_.is_mappable());
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), entry.buffer.get(), entry.memory->handle(), 0));
  entry.place = {entry.buffer.get(), 0, size, entry.memory.get()};
  const VkBuffer made = entry.buffer.get();
  add(std::move(entry));
  return made;
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
  Entry entry;
  entry.buffer = make_buffer(device_, describe(size, kUsage));
  const auto requirements = requirements_of(device_, entry.buffer.get());
  if (start + requirements.size > place->memory->size()) {
    throw Error(ENOTSUP, format("%s needs %llu bytes for a sub-buffer of %llu bytes at the end of its allocation",
                                device_.name().c_str(), static_cast<unsigned long long>(requirements.size),
                                static_cast<unsigned long long>(size)));
  }
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), entry.buffer.get(), place->memory->handle(), start));
  entry.place = {place->whole, start, size, place->memory};
  const VkBuffer made = entry.buffer.get();
  add(std::move(entry));
  return made;
}

std::optional<Place> Buffers::find(VkBuffer buffer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  return found == entries_.end() ? std::nullopt : std::optional(found->second.place);
}

void Buffers::add(Entry entry) {
  const VkBuffer buffer = entry.buffer.get();
  const std::lock_guard lock(mutex_);
  entries_.emplace(buffer, std::move(entry));
}

Buffers::Entry Buffers::forget(VkBuffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(buffer);
  assert(found != entries_.end());
  Entry entry = std::move(found->second);
  entries_.erase(found);
  return entry;
}

}  // namespace arrowdevice::vulkan
