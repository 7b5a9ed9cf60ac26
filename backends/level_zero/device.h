// SPDX-License-Identifier: Apache-2.0
// A device: a device of the driver in one context.
#pragma once

#include <cstdint>

#include "level_zero/context.h"
#include "level_zero/physical_device.h"

namespace arrowdevice::level_zero {

// The kind of memory that the library allocates. Foreign arrays may use any kind.
enum class MemoryKind { kDevice, kHost, kShared };

// Returns the kind named by ARROWDEVICE_LEVEL_ZERO_MEMORY. Throws EINVAL for an unknown word.
MemoryKind chosen_memory_kind();

// Lives as long as the process. All functions are thread-safe.
class Device {
 public:
  Device(Context& context, PhysicalDevice& physical, MemoryKind kind) noexcept
      : context_(context), physical_(physical), kind_(kind) {}

  Context& context() const noexcept { return context_; }
  PhysicalDevice& physical() const noexcept { return physical_; }
  const Properties& properties() const noexcept { return physical_.properties(); }

  void* allocate(int64_t size, int64_t alignment);

  // Frees memory that no work uses.
  void free(void* memory) noexcept;

 private:
  Context& context_;
  PhysicalDevice& physical_;
  const MemoryKind kind_;
};

}  // namespace arrowdevice::level_zero
