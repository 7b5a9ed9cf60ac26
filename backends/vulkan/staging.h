// SPDX-License-Identifier: Apache-2.0
// Host-visible memory for bytes that the device cannot access in another way. Blocks are reused. A copy returns its
// blocks when it is done.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/buffers.h"

namespace arrowdevice::vulkan {

// All functions are thread-safe.
class Staging {
 public:
  enum Direction { kUpload, kDownload };

  static constexpr VkDeviceSize kBlockBytes = 1 << 20;

  // A mapped block of kBlockBytes.
  struct Block {
    std::unique_ptr<Memory> memory;
    UniqueBuffer buffer;  // destroyed before the memory that it is bound to
    Direction direction = kUpload;
  };

  Staging(const LogicalDevice& device, const PhysicalDevice& physical, const Buffers& buffers, bool noncoherent);

  Block take(Direction direction);
  void give_back(Block block) noexcept;
  void trim() noexcept;

 private:
  const LogicalDevice& device_;
  const PhysicalDevice& physical_;
  const Buffers& buffers_;
  const bool noncoherent_;

  std::mutex mutex_;
  std::vector<Block> free_[2];
};

}  // namespace arrowdevice::vulkan
