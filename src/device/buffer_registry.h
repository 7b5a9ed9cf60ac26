// SPDX-License-Identifier: Apache-2.0
// The buffers of a device that arrowdevice_buffer_allocate() returned, by address or handle.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/process.h"

namespace arrowdevice::device {

class Allocation;
class Device;
class Queue;

// Any thread may call this class.
class BufferRegistry {
 public:
  BufferRegistry(const Device& device, bool usable_across_fork);
  ~BufferRegistry();

  // Returns the buffer, which is registered until free().
  void* add(Allocation allocation);

  // Frees a buffer after the work that was submitted to `queue` so far, or at once if `queue` is NULL. Throws EINVAL if
  // the buffer is not registered.
  void free(void* buffer, Queue* queue);

 private:
  struct Buffer;

  std::unique_ptr<Buffer> remove(void* buffer);

  const Device& device_;
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Buffer>> buffers_;
  std::optional<process::UsableAcrossFork> usable_across_fork_;
};

}  // namespace arrowdevice::device
