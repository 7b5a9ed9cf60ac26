// SPDX-License-Identifier: Apache-2.0
// The allocations of a device that other processes can open, and the buffers in them.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/process.h"

namespace arrowdevice::device {

struct ShareableBlock {
  void* buffer = nullptr;
  int64_t size = 0;
  int generation = 0;   // of the process that made it
  uint64_t number = 0;  // of no other block in this process, or 0 for a block of another process
};

// The location of a buffer in an allocation.
struct ShareableLocation {
  ShareableBlock block;
  int64_t offset = 0;
};

// Any thread may call this class.
class ShareableBlocks {
 public:
  explicit ShareableBlocks(bool usable_across_fork) {
    if (usable_across_fork) usable_across_fork_.emplace(mutex_);
  }

  // Adds a block, and gives it a number.
  void add(ShareableBlock block);
  void remove(const void* buffer) noexcept;

  // Returns how many blocks were removed so far.
  uint64_t removed() const noexcept { return removed_.load(std::memory_order_acquire); }

  // Records the handle of a sub-buffer, if `parent` is in a block.
  void add_sub_buffer(const void* sub, const void* parent, int64_t offset);
  void remove_sub_buffer(const void* sub) noexcept;

  // Returns the location of an address, if this process made the block.
  std::optional<ShareableLocation> find_address(const void* address) const;

  // Returns the location of a device handle, which is that of a block or of a sub-buffer.
  std::optional<ShareableLocation> find_handle(const void* handle) const;

 private:
  std::optional<ShareableLocation> handle_location(const void* handle) const;

  std::atomic<uint64_t> removed_{0};
  mutable std::mutex mutex_;
  std::optional<process::UsableAcrossFork> usable_across_fork_;
  std::map<const char*, ShareableBlock> blocks_;
  std::map<const void*, ShareableLocation> sub_buffers_;
};

}  // namespace arrowdevice::device
