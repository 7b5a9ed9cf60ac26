// SPDX-License-Identifier: Apache-2.0
// Host-visible memory through which bytes go that the device cannot reach in any other way. Blocks are used round and
// round: what a copy took comes back when the copy is done.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/buffers.h"

namespace arrowdevice::vulkan {

// All functions may be called from any thread.
class Staging {
 public:
  enum Direction { kUpload, kDownload };

  static constexpr VkDeviceSize kBlockBytes = 1 << 20;

  // A block of kBlockBytes, mapped.
  struct Block {
    std::unique_ptr<Memory> memory;
    UniqueBuffer buffer;  // goes before the memory that it is bound to
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
