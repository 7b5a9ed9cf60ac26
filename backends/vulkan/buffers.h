// SPDX-License-Identifier: Apache-2.0
// The device's memory as VkBuffers. Each allocation has one VkDeviceMemory, and each buffer or sub-buffer has one
// VkBuffer that is bound to it.
#pragma once

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

// A VkBuffer of the library. The buffer of a whole allocation owns the memory.
struct OwnedBuffer {
  std::shared_ptr<void> pages;     // host memory that is imported as `memory`, and outlives it
  std::unique_ptr<Memory> memory;  // NULL for sub-buffers
  bool is_exportable = false;      // the memory can leave the process
  Place place;
  UniqueBuffer buffer;  // destroyed before the memory that it is bound to
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
  };

  Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings);

  VkDeviceSize alignment() const noexcept { return alignment_; }  // alignment of sub-buffers

  VkBuffer allocate(VkDeviceSize size);
  // Removes the buffer. Releasing the returned object destroys the buffer and its memory.
  std::shared_ptr<const void> take(VkBuffer buffer) { return std::make_shared<OwnedBuffer>(forget(buffer)); }

  // The steps of allocate(), for other memory. `external` has the handle types of external memory. `next` continues the
  // chain of VkMemoryAllocateInfo. add() binds the buffer to the start of its memory.
  OwnedBuffer create(VkDeviceSize size, VkExternalMemoryHandleTypeFlags external = 0) const;
  std::unique_ptr<Memory> allocate_memory(const MemoryType& type, VkDeviceSize size, const void* next = nullptr) const;
  VkBuffer add(OwnedBuffer whole);

  VkBuffer write_buffer(VkBuffer parent, VkDeviceSize offset, VkDeviceSize size);
  void free_part(VkBuffer part) noexcept { forget(part); }

  // Returns nullopt if the buffer is foreign.
  std::optional<Place> find(VkBuffer buffer) const;
  // Returns the buffer if it is that of a whole allocation, and else NULL. It is valid until the buffer is removed.
  const OwnedBuffer* find_whole(VkBuffer buffer) const;

  // Returns the description of a buffer for copies that all families share. `next` continues its chain.
  VkBufferCreateInfo describe(VkDeviceSize size, VkBufferUsageFlags usage, const void* next = nullptr) const noexcept;

 private:
  VkBuffer keep(OwnedBuffer made);
  OwnedBuffer forget(VkBuffer buffer) noexcept;

  const LogicalDevice& device_;
  const PhysicalDevice& physical_;
  const Settings settings_;
  MemoryType type_;
  VkDeviceSize alignment_ = 1;

  mutable std::mutex mutex_;  // held only for a look-up, because shared locks cost more
  std::unordered_map<VkBuffer, OwnedBuffer> entries_;
};

}  // namespace arrowdevice::vulkan
