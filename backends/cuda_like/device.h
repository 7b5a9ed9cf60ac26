// SPDX-License-Identifier: Apache-2.0
// A device of the format: one kind of memory of one GPU.
#pragma once

#include <arrowdevice/abi.h>

#include "cuda_like/memory.h"

namespace arrowdevice::cuda_like {

// Lives as long as the process. All functions are thread-safe.
struct Device {
  Device(Gpu& its_gpu, MemoryKind its_kind, ArrowDeviceType its_type)
      : gpu(its_gpu), kind(its_kind), type(its_type), memory(its_gpu, its_kind) {}

  Gpu& gpu;
  const MemoryKind kind;
  const ArrowDeviceType type;
  Memory memory;

  // Returns true if the CPU can use the memory in place.
  bool is_host_readable() const noexcept {
    return kind == MemoryKind::kPinned || (kind == MemoryKind::kManaged && gpu.properties().shares_managed_memory);
  }
};

}  // namespace arrowdevice::cuda_like
