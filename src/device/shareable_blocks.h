// SPDX-License-Identifier: Apache-2.0
// The allocations of a device that other processes can open, by address.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>

#include "base/process.h"

namespace arrowdevice::device {

struct ShareableBlock {
  void* buffer = nullptr;
  int64_t size = 0;
  int generation = 0;  // of the process that made it
};

// Any thread may call this class.
class ShareableBlocks {
 public:
  explicit ShareableBlocks(bool usable_across_fork) {
    if (usable_across_fork) usable_across_fork_.emplace(mutex_);
  }

  void add(const ShareableBlock& block) {
    const std::lock_guard lock(mutex_);
    blocks_.emplace(static_cast<const char*>(block.buffer), block);
  }

  void remove(const void* buffer) noexcept {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<const char*>(buffer));
  }

  // Returns the allocation of this process that contains an address, or has a handle.
  std::optional<ShareableBlock> find(const void* buffer) const {
    const auto* const address = static_cast<const char*>(buffer);
    const std::lock_guard lock(mutex_);
    const auto above = blocks_.upper_bound(address);
    if (above == blocks_.begin()) return std::nullopt;
    const auto& block = std::prev(above)->second;
    const bool is_in = address - static_cast<const char*>(block.buffer) < block.size;
    return is_in && block.generation == process::generation() ? std::optional(block) : std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<process::UsableAcrossFork> usable_across_fork_;
  std::map<const char*, ShareableBlock> blocks_;
};

}  // namespace arrowdevice::device
