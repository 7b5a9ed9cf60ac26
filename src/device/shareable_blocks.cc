// SPDX-License-Identifier: Apache-2.0
#include "device/shareable_blocks.h"

#include <iterator>

namespace arrowdevice::device {
namespace {

std::optional<ShareableLocation> if_of_this_process(const ShareableLocation& location) {
  return location.block.generation == process::generation() ? std::optional(location) : std::nullopt;
}

}  // namespace

void ShareableBlocks::add(ShareableBlock block) {
  static std::atomic<uint64_t> last{0};
  block.number = ++last;
  const std::lock_guard lock(mutex_);
  blocks_.emplace(static_cast<const char*>(block.buffer), block);
}

void ShareableBlocks::remove(const void* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  blocks_.erase(static_cast<const char*>(buffer));
  removed_.fetch_add(1, std::memory_order_release);
}

void ShareableBlocks::add_sub_buffer(const void* sub, const void* parent, int64_t offset) {
  const std::lock_guard lock(mutex_);
  if (auto location = handle_location(parent)) {
    location->offset += offset;
    sub_buffers_.emplace(sub, *location);
  }
}

void ShareableBlocks::remove_sub_buffer(const void* sub) noexcept {
  const std::lock_guard lock(mutex_);
  sub_buffers_.erase(sub);
}

std::optional<ShareableLocation> ShareableBlocks::find_address(const void* address) const {
  const auto* const wanted = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  const auto above = blocks_.upper_bound(wanted);
  if (above == blocks_.begin()) return std::nullopt;
  const auto& block = std::prev(above)->second;
  const int64_t offset = wanted - static_cast<const char*>(block.buffer);
  return offset < block.size ? if_of_this_process({block, offset}) : std::nullopt;
}

std::optional<ShareableLocation> ShareableBlocks::find_handle(const void* handle) const {
  const std::lock_guard lock(mutex_);
  const auto location = handle_location(handle);
  return location ? if_of_this_process(*location) : std::nullopt;
}

// Needs the mutex.
std::optional<ShareableLocation> ShareableBlocks::handle_location(const void* handle) const {
  const auto block = blocks_.find(static_cast<const char*>(handle));
  if (block != blocks_.end()) return ShareableLocation{block->second, 0};
  const auto sub = sub_buffers_.find(handle);
  return sub != sub_buffers_.end() ? std::optional(sub->second) : std::nullopt;
}

}  // namespace arrowdevice::device
