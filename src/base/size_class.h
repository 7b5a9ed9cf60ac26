// SPDX-License-Identifier: Apache-2.0
// The sizes of blocks of memory that are used again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/checked.h"

namespace arrowdevice {

// Rounds a size up to an eighth of its power of two. At most an eighth is wasted, and a returned block fits the next
// use of about its size.
inline int64_t size_class(int64_t size) {
  constexpr int64_t kSmallest = 512;
  constexpr int64_t kClassesPerDoubling = 8;
  if (size <= kSmallest) return kSmallest;
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size)));
  return align_up(size, std::max(kSmallest, power / kClassesPerDoubling));
}

}  // namespace arrowdevice
