// SPDX-License-Identifier: Apache-2.0
// The device's memory as VkBuffers. Each allocation has one VkDeviceMemory, and each buffer or sub-buffer has one
// VkBuffer that is bound to it.
#pragma once

#include <arrowdevice/backend.h>

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vulkan/memory.h"
#include "vulkan/physical_device.h"

namespace arrowdevice::vulkan {

// The position of a VkBuffer of the library.
struct Place {
  VkBuffer whole = VK_NULL_HANDLE;  // the buffer of the whole allocation
  VkDeviceSize offset = 0;          // offset in `whole`
  VkDeviceSize size = 0;            // size that the caller requested
  const Memory* memory = nullptr;
  VkExternalMemoryHandleTypeFlags external = 0;  // of memory that other processes can open
};

// Host memory that other processes can map.
class SharedPages;

// The form of memory that other processes can open.
enum class Sharing {
  kNone,
  kHostMemory,   // host memory that the device uses in place
  kDescriptors,  // device memory that leaves the process as an opaque descriptor
};

// Usage by consumers: compute shaders read and write columns through descriptors, and plots use them as vertices and
// indices.
inline constexpr VkBufferUsageFlags kBufferUsage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                                   VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                                   VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT;

// All functions are thread-safe.
class Buffers {
 public:
  struct Settings {
    std::vector<uint32_t> families;  // families that will use the buffers
    bool map;                        // map memory if the memory type allows it
    bool noncoherent;                // treat coherent memory as noncoherent
    Sharing sharing;
  };

  Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings);

  VkDeviceSize alignment() const noexcept { return alignment_; }  // alignment of sub-buffers

  VkBuffer allocate(VkDeviceSize size);
  // Removes the buffer. Releasing the returned object destroys the buffer and its memory.
  std::shared_ptr<const void> take(VkBuffer buffer) { return std::make_shared<Entry>(forget(buffer)); }

  bool has_shareable_memory() const noexcept { return settings_.sharing != Sharing::kNone; }
  // Allocates such memory. Only host memory contains zeros.
  VkBuffer allocate_shareable(VkDeviceSize size);
  bool has_zeros() const noexcept { return settings_.sharing == Sharing::kHostMemory; }
  void describe_shareable(VkBuffer buffer, arrowdevice_memory_record& out) const;
  // Opens memory of another process. If it is host memory, the other process does not see what this one writes.
  VkBuffer open_shared(const arrowdevice_memory_record& record, int64_t& size);

  VkBuffer write_buffer(VkBuffer parent, VkDeviceSize offset, VkDeviceSize size);
  void free_part(VkBuffer part) noexcept { forget(part); }

  // Returns nullopt if the buffer is foreign.
  std::optional<Place> find(VkBuffer buffer) const;

  // Returns the description of a buffer for copies that all families share. `next` continues its chain.
  VkBufferCreateInfo describe(VkDeviceSize size, VkBufferUsageFlags usage, const void* next = nullptr) const noexcept;

 private:
  struct Entry {
    std::shared_ptr<const SharedPages> pages;  // outlive the memory
    std::unique_ptr<Memory> memory;            // set for whole allocations
    Place place;
    uint32_t memory_type = 0;  // of memory that is exported
    UniqueBuffer buffer;       // destroyed before the memory that it is bound to
  };

  VkDeviceSize granule_of(const MemoryType& type) const noexcept;
  void bind(Entry& entry, VkDeviceSize size);
  VkBuffer add_shared(std::shared_ptr<const SharedPages> pages, VkDeviceSize size);
  VkBuffer allocate_exported(VkDeviceSize size);
  VkBuffer import_descriptor(const arrowdevice_memory_record& record, int64_t& size);
  VkBuffer add(Entry entry);
  Entry forget(VkBuffer buffer) noexcept;

  const LogicalDevice& device_;
  const PhysicalDevice& physical_;
  const Settings settings_;
  MemoryType type_;
  VkDeviceSize alignment_ = 1;

  mutable std::mutex mutex_;  // held only for a look-up, because shared locks cost more
  std::unordered_map<VkBuffer, Entry> entries_;
};

}  // namespace arrowdevice::vulkan
