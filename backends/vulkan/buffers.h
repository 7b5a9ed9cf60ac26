// SPDX-License-Identifier: Apache-2.0
// The device's memory as VkBuffers: one VkDeviceMemory for each allocation, one VkBuffer bound for each part of it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vulkan/memory.h"
#include "vulkan/physical_device.h"

namespace arrowdevice::vulkan {

// Where a VkBuffer of the library lies.
struct Place {
  VkBuffer whole = VK_NULL_HANDLE;  // the buffer of the whole allocation
  VkDeviceSize offset = 0;          // in it
  VkDeviceSize size = 0;            // as it was asked for
  const Memory* memory = nullptr;
};

// All functions may be called from any thread.
class Buffers {
 public:
  struct Settings {
    std::vector<uint32_t> families;  // that will use the buffers
    bool map;                        // where the memory type allows it
    bool noncoherent;                // treat coherent memory as if it were not
  };

  Buffers(const LogicalDevice& device, const PhysicalDevice& physical, Settings settings);

  VkDeviceSize alignment() const noexcept { return alignment_; }  // of parts
  const MemoryType& memory_type() const noexcept { return type_; }

  VkBuffer allocate(VkDeviceSize size);
  // What goes with the buffer goes with what is returned.
  std::shared_ptr<const void> take(VkBuffer buffer) { return std::make_shared<Entry>(forget(buffer)); }
  VkBuffer write_buffer(VkBuffer parent, VkDeviceSize offset, VkDeviceSize size);
  void free_part(VkBuffer part) noexcept { forget(part); }

  // nullopt: not a buffer of the library.
  std::optional<Place> find(VkBuffer buffer) const;

  // A buffer for copies, shared among the families; `next` continues its chain.
  VkBufferCreateInfo describe(VkDeviceSize size, VkBufferUsageFlags usage, const void* next = nullptr) const noexcept;

 private:
  struct Entry {
    std::unique_ptr<Memory> memory;  // of whole allocations
    Place place;
    UniqueBuffer buffer;  // goes before the memory that it is bound to
  };

  void add(Entry entry);
  Entry forget(VkBuffer buffer) noexcept;

  const LogicalDevice& device_;
  const Settings settings_;
  MemoryType type_;
  VkDeviceSize alignment_ = 1;
  VkDeviceSize granule_ = 0;

  mutable std::mutex mutex_;  // held for a look-up only: shared locks cost more
  std::unordered_map<VkBuffer, Entry> entries_;
};

}  // namespace arrowdevice::vulkan
