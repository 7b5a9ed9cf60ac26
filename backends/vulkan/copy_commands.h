// SPDX-License-Identifier: Apache-2.0
// Records copies between buffers, and the barriers that order them. Consecutive copies between the same two buffers
// become one command.
#pragma once

#include <vector>

#include "vulkan/submission_queue.h"

namespace arrowdevice::vulkan {

// A position in a buffer.
struct BufferPosition {
  VkBuffer buffer;
  VkDeviceSize offset;
};

class CopyCommands {
 public:
  CopyCommands(const LogicalDevice& device, VkCommandBuffer commands);

  void add(const BufferPosition& from, const BufferPosition& to, VkDeviceSize size);
  void end();

 private:
  void record_pending();

  const LogicalDevice& device_;
  const VkCommandBuffer commands_;
  VkBuffer from_ = VK_NULL_HANDLE;
  VkBuffer to_ = VK_NULL_HANDLE;
  std::vector<VkBufferCopy> pending_;  // copies from `from_` to `to_`
};

}  // namespace arrowdevice::vulkan
