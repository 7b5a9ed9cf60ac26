// SPDX-License-Identifier: Apache-2.0
// Copies: the commands of a batch, and their submission.
#pragma once

#include <arrowdevice/backend.h>

#include <span>
#include <vector>

#include "vulkan/device.h"
#include "vulkan/submission_queue.h"

namespace arrowdevice::vulkan {

// A position in a buffer.
struct BufferPosition {
  VkBuffer buffer;
  VkDeviceSize offset;
};

// Records copies between buffers, and the barriers that order them. The copies may run in any order, so that copies
// between the same two buffers become one command.
class CopyCommands {
 public:
  CopyCommands(const LogicalDevice& device, VkCommandBuffer commands);

  void add(const BufferPosition& from, const BufferPosition& to, VkDeviceSize size);
  void end();

 private:
  // The copies of a command.
  struct Group {
    VkBuffer from;
    VkBuffer to;
    std::vector<VkBufferCopy> copies;
  };

  Group& group_of(VkBuffer from, VkBuffer to);

  const LogicalDevice& device_;
  const VkCommandBuffer commands_;
  std::vector<Group> groups_;
};

// Enqueues all regions. The CPU writes them at once if the memory is mapped and no earlier work is pending. Otherwise
// they become one or more command buffers. Blocks only if staging memory runs out, or if the CPU must read memory that
// is still being written.
void copy(Device& device, SubmissionQueue& queue, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::vulkan
