// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from outside: never wraps around, says EINVAL instead.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace arrowdevice {

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw Error(EINVAL, "a size or position is too large for 64 bits");
  return sum;
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw Error(EINVAL, "a size or position is too large for 64 bits");
  return product;
}

// The least multiple of `alignment` that is not below `value`.
inline int64_t align_up(int64_t value, int64_t alignment) {
  const int64_t rest = value % alignment;
  return rest == 0 ? value : checked_add(value, alignment - rest);
}

// Bytes that hold `bits` bits. Does not overflow for any `bits` that is not negative.
inline int64_t bytes_for_bits(int64_t bits) { return bits / 8 + (bits % 8 != 0); }

}  // namespace arrowdevice
