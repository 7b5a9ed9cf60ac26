// SPDX-License-Identifier: Apache-2.0
#include "device/allocation.h"

#include <utility>

#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::device {

void Allocation::reset() noexcept {
  if (block_.buffer == nullptr) return;
  pool_->take_back(block_);
  block_ = {};
  next_sub_buffer_ = 0;
  pool_.reset();
}

void Allocation::order_after(Queue& queue) {
  if (!std::exchange(block_.is_behind_queue, false)) return;
  try {
    block_.last_use = queue.record();
  } catch (...) {
    if (queue.drain()) return;
    block_ = {};  // never used again
    throw;
  }
}

bool Allocation::may_be_reused_in_order() const noexcept {
  const auto& options = pool_->options_;
  return pool_->device().is_stream_ordered() && options.allocate == nullptr &&
         (options.flags & ARROWDEVICE_POOL_WAIT_FOR_CONTEXT) == 0;
}

void Allocation::reset_behind(std::shared_ptr<Event> last_use, uint64_t queue) noexcept {
  block_.last_use = std::move(last_use);
  block_.used_by = queue;
  reset();
}

void* Allocation::sub_buffer(int64_t offset, int64_t size) {
  const Device& device = pool_->device();
  if (device.has_addresses()) return device.sub_buffer_create(block_.buffer, offset, size);
  return sub_buffer_with_handle(offset, size);
}

// Stays out of line, because sub_buffer() would save registers for it, for each buffer of a copy.
[[gnu::noinline]] void* Allocation::sub_buffer_with_handle(int64_t offset, int64_t size) {
  const Device& device = pool_->device();
  auto& sub_buffers = block_.sub_buffers;
  if (next_sub_buffer_ < sub_buffers.size() && sub_buffers[next_sub_buffer_].offset == offset &&
      sub_buffers[next_sub_buffer_].size == size) {
    return sub_buffers[next_sub_buffer_++].handle;
  }
  // The block was divided differently before.
  for (size_t i = next_sub_buffer_; i < sub_buffers.size(); ++i) device.sub_buffer_destroy(sub_buffers[i].handle);
  sub_buffers.resize(next_sub_buffer_);
  sub_buffers.push_back({offset, size, nullptr});  // allocates before there is a handle to lose
  try {
    sub_buffers.back().handle = device.sub_buffer_create(block_.buffer, offset, size);
  } catch (...) {
    sub_buffers.pop_back();
    throw;
  }
  return sub_buffers[next_sub_buffer_++].handle;
}

}  // namespace arrowdevice::device
