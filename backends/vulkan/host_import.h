// SPDX-License-Identifier: Apache-2.0
// Host memory as the device sees it, without a copy: VK_EXT_external_memory_host.
#pragma once

#include <cstdint>
#include <memory>

#include "vulkan/buffers.h"

namespace arrowdevice::vulkan {

// Whole pages around a piece of host memory, as a buffer. The memory must stay as long as this.
class HostImport {
 public:
  VkBuffer buffer() const noexcept { return buffer_.get(); }
  VkDeviceSize offset_of(uintptr_t address) const noexcept { return address - base_; }

 private:
  friend class HostImporter;

  uintptr_t base_ = 0;
  UniqueMemory memory_;
  UniqueBuffer buffer_;  // goes before the memory that it is bound to
};

class HostImporter {
 public:
  HostImporter(const LogicalDevice& device, const PhysicalDevice& physical, const Buffers& buffers, bool is_used);

  bool is_used() const noexcept { return alignment_ != 0; }
  uintptr_t alignment() const noexcept { return alignment_; }

  // NULL where the driver does not take this memory (read-only pages, a file, a limit on pinned memory): it is to
  // be staged then. Throws where the device is lost.
  std::shared_ptr<const HostImport> import(uintptr_t begin, uintptr_t end) const;

 private:
  const LogicalDevice& device_;
  const PhysicalDevice& physical_;
  const Buffers& buffers_;
  const uintptr_t alignment_;  // 0: not used
};

}  // namespace arrowdevice::vulkan
