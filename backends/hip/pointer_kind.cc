// SPDX-License-Identifier: Apache-2.0
#include "hip/pointer_kind.h"

namespace arrowdevice::hip {
namespace {

using cuda_like::MemoryKind;

// hipMemoryType of HIP 5: 0 host, 1 device, 2 array, 3 unified, and from 5.3 on 4 managed.
std::optional<MemoryKind> kind_of_5(unsigned type) {
  constexpr unsigned kHost = 0, kDevice = 1, kUnified = 3, kManaged = 4;
  switch (type) {
    case kHost: return MemoryKind::kPinned;
    case kDevice: return MemoryKind::kDevice;
    case kUnified:
    case kManaged: return MemoryKind::kManaged;
    default: return std::nullopt;
  }
}

// hipMemoryType from HIP 6 on, as in CUDA's runtime: 0 unknown, 1 host, 2 device, 3 managed, 10 array, 11 unified.
std::optional<MemoryKind> kind_of_6(unsigned type) {
  constexpr unsigned kHost = 1, kDevice = 2, kManaged = 3, kUnified = 11;
  switch (type) {
    case kHost: return MemoryKind::kPinned;
    case kDevice: return MemoryKind::kDevice;
    case kManaged:
    case kUnified: return MemoryKind::kManaged;
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<MemoryKind> pointer_kind(const hipPointerAttribute_t& attributes, int major) {
  constexpr int kFirstWithOtherNumbers = 6;
  if (attributes.isManaged != 0) return MemoryKind::kManaged;
  return major < kFirstWithOtherNumbers ? kind_of_5(attributes.memoryType) : kind_of_6(attributes.memoryType);
}

}  // namespace arrowdevice::hip
