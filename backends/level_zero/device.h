// SPDX-License-Identifier: Apache-2.0
// A device: a device of the driver in one context.
#pragma once

#include <cstdint>

#include "level_zero/context.h"
#include "level_zero/physical_device.h"

namespace arrowdevice::level_zero {

// What allocations of ours are made of. Arrays of others may lie in any.
enum class MemoryKind { kDevice, kHost, kShared };

// By ARROWDEVICE_LEVEL_ZERO_MEMORY. Throws EINVAL for a word that it does not know.
MemoryKind chosen_memory_kind();

// Lives as long as the process. Thread-safety: free.
class Device {
 public:
  Device(Context& context, PhysicalDevice& physical, MemoryKind kind) noexcept
      : context_(context), physical_(physical), kind_(kind) {}

  Context& context() const noexcept { return context_; }
  PhysicalDevice& physical() const noexcept { return physical_; }
  const Properties& properties() const noexcept { return physical_.properties(); }

  void* allocate(int64_t size, int64_t alignment);

  // Nothing uses it.
  void free(void* memory) noexcept;

 private:
  Context& context_;
  PhysicalDevice& physical_;
  const MemoryKind kind_;
};

}  // namespace arrowdevice::level_zero
