// SPDX-License-Identifier: Apache-2.0
// Gives the device access to host memory without a copy, with VK_EXT_external_memory_host.
#pragma once

#include <cstdint>
#include <memory>

#include "vulkan/buffers.h"

namespace arrowdevice::vulkan {

// Whole pages around a range of host memory, as a buffer. The host memory must outlive this object.
class HostImport {
 public:
  VkBuffer buffer() const noexcept { return buffer_.get(); }
  VkDeviceSize offset_of(uintptr_t address) const noexcept { return address - base_; }

 private:
  friend class HostImporter;

  uintptr_t base_ = 0;
  UniqueMemory memory_;
  UniqueBuffer buffer_;  // destroyed before the memory that it is bound to
};

class HostImporter {
 public:
  HostImporter(const LogicalDevice& device, const PhysicalDevice& physical, const Buffers& buffers, bool is_used);

  bool is_used() const noexcept { return alignment_ != 0; }
  uintptr_t alignment() const noexcept { return alignment_; }

  // Returns NULL if the driver rejects this memory (read-only pages, a file, a limit on pinned memory). The caller then
  // stages it. Throws if the device is lost.
  std::shared_ptr<const HostImport> import(uintptr_t begin, uintptr_t end) const;

 private:
  const LogicalDevice& device_;
  const PhysicalDevice& physical_;
  const Buffers& buffers_;
  const uintptr_t alignment_;  // 0 if imports are not used
};

}  // namespace arrowdevice::vulkan
