// SPDX-License-Identifier: Apache-2.0
// Arithmetic on untrusted sizes. It never wraps around, and throws EINVAL instead.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace arrowdevice {

// Throws EINVAL. The function is not inlined, so that the arithmetic is small in its callers.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_size(const char* why) { throw Error(EINVAL, why); }
inline constexpr const char* kTooLarge = "a size or position is too large for 64 bits";

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) refuse_size(kTooLarge);
  return sum;
}

inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) refuse_size(kTooLarge);
  return product;
}

// Returns the least multiple of `alignment`, a power of two, that is not below `value`.
inline int64_t align_up(int64_t value, int64_t alignment) {
  return checked_add(value, alignment - 1) & ~(alignment - 1);
}

// Returns the bytes that hold `bits` bits. Does not overflow for any `bits` that is not negative.
inline int64_t bytes_for_bits(int64_t bits) { return (bits >> 3) + ((bits & 7) != 0); }

}  // namespace arrowdevice
