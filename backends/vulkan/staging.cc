// SPDX-License-Identifier: Apache-2.0
#include "vulkan/staging.h"

namespace arrowdevice::vulkan {
namespace {

constexpr size_t kMostFreeBlocks = 64;

}  // namespace

Staging::Staging(const LogicalDevice& device, const PhysicalDevice& physical, const Buffers& buffers, bool noncoherent)
    : device_(device), physical_(physical), buffers_(buffers), noncoherent_(noncoherent) {
  for (auto& blocks : free_) blocks.reserve(kMostFreeBlocks);  // give_back() must not fail
}

Staging::Block Staging::take(Direction direction) {
  {
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[direction];
    if (!blocks.empty()) {
      Block block = std::move(blocks.back());
      blocks.pop_back();
      return block;
    }
  }
  Block block;
  block.direction = direction;
  block.buffer =
      make_buffer(device_, buffers_.describe(kBlockBytes, direction == kUpload ? VK_BUFFER_USAGE_TRANSFER_SRC_BIT
                                                                               : VK_BUFFER_USAGE_TRANSFER_DST_BIT));
  const auto requirements = requirements_of(device_, block.buffer.get());
  const auto type = choose_memory_type(physical_.memory, requirements.memoryTypeBits,
                                       direction == kUpload ? Need::kUpload : Need::kDownload);
  const VkDeviceSize granule =
      noncoherent_ || !type.is_coherent() ? physical_.properties.limits.nonCoherentAtomSize : 0;
  block.memory = std::make_unique<Memory>(device_, type, requirements.size, granule, true);
  device_.check("vkBindBufferMemory",
                device_->vkBindBufferMemory(device_.handle(), block.buffer.get(), block.memory->handle(), 0));
  return block;
}

void Staging::give_back(Block block) noexcept {
  const std::lock_guard lock(mutex_);
  auto& blocks = free_[block.direction];
  if (blocks.size() < kMostFreeBlocks) blocks.push_back(std::move(block));
}

void Staging::trim() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto& blocks : free_) blocks.clear();
}

}  // namespace arrowdevice::vulkan
