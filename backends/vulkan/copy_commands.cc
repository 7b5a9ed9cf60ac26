// SPDX-License-Identifier: Apache-2.0
#include "vulkan/copy_commands.h"

namespace arrowdevice::vulkan {
namespace {

void barrier(const LogicalDevice& device, VkCommandBuffer commands, VkPipelineStageFlags before, VkAccessFlags written,
             VkPipelineStageFlags after, VkAccessFlags seen) {
  VkMemoryBarrier memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  memory.srcAccessMask = written;
  memory.dstAccessMask = seen;
  device->vkCmdPipelineBarrier(commands, before, after, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

}  // namespace

// Orders the copies after all earlier work of the queue, including an application's shaders.
CopyCommands::CopyCommands(const LogicalDevice& device, VkCommandBuffer commands)
    : device_(device), commands_(commands) {
  barrier(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
          VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);
}

void CopyCommands::add(const BufferPosition& from, const BufferPosition& to, VkDeviceSize size) {
  if (from.buffer != from_ || to.buffer != to_) {
    record_pending();
    from_ = from.buffer;
    to_ = to.buffer;
  }
  if (!pending_.empty()) {
    VkBufferCopy& last = pending_.back();
    if (last.srcOffset + last.size == from.offset && last.dstOffset + last.size == to.offset) {
      last.size += size;
      return;
    }
  }
  pending_.push_back({from.offset, to.offset, size});
}

void CopyCommands::record_pending() {
  if (pending_.empty()) return;
  device_->vkCmdCopyBuffer(commands_, from_, to_, static_cast<uint32_t>(pending_.size()), pending_.data());
  pending_.clear();
}

// Makes the copied data visible to later work of the device and to the CPU. Later work also does not overwrite data
// that a copy still reads.
void CopyCommands::end() {
  record_pending();
  barrier(device_, commands_, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
          VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT,
          VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
}

}  // namespace arrowdevice::vulkan
