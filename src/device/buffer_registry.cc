// SPDX-License-Identifier: Apache-2.0
#include "device/buffer_registry.h"

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "device/deferred.h"
#include "device/device.h"
#include "device/pool.h"
#include "device/queue.h"

namespace arrowdevice::device {

// A registered buffer is deferred work from the start. Freeing it therefore needs no memory.
struct BufferRegistry::Buffer final : Deferred {
  explicit Buffer(Allocation of) : allocation(std::move(of)) {}

  Allocation allocation;
};

BufferRegistry::BufferRegistry(const Device& device, bool usable_across_fork) : device_(device) {
  if (usable_across_fork) usable_across_fork_.emplace(mutex_);
}

BufferRegistry::~BufferRegistry() = default;

void* BufferRegistry::add(Allocation allocation) {
  void* const handle = allocation.buffer();
  auto buffer = std::make_unique<Buffer>(std::move(allocation));
  const std::lock_guard lock(mutex_);
  buffers_.try_emplace(handle, std::move(buffer));  // a second buffer of the same address is destroyed after the unlock
  return handle;
}

void BufferRegistry::free(void* buffer, Queue* queue) {
  auto freed = remove(buffer);
  if (queue == nullptr) return;
  try {
    freed->after = queue->record();
  } catch (...) {
    // There is no event to wait for, so the queue itself must be drained.
    if (!queue->drain()) DeferredWork::abandon(std::move(freed));
    throw;
  }
  DeferredWork::instance().defer(std::move(freed));
}

std::unique_ptr<BufferRegistry::Buffer> BufferRegistry::remove(void* buffer) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) throw Error(EINVAL, "not a buffer that was allocated on " + device_.text());
  auto removed = std::move(found->second);
  buffers_.erase(found);
  return removed;
}

}  // namespace arrowdevice::device
