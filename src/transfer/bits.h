// SPDX-License-Identifier: Apache-2.0
// Bitmaps in host memory, least significant bit first.
#pragma once

#include <cstdint>

namespace arrowdevice::transfer {

inline bool bit_is_set(const uint8_t* bits, int64_t position) noexcept {
  return (bits[position >> 3] >> (position & 7) & 1) != 0;
}

// Copies `count` bits that start at bit `first` of `source` to bit 0 of `target`. Sets the remaining bits of the last
// byte to 0. `source` and `target` may be the same.
void copy_bits(const uint8_t* source, int64_t first, int64_t count, uint8_t* target) noexcept;

// Counts the set bits among `count` bits from bit `first` on.
int64_t count_bits(const uint8_t* bits, int64_t first, int64_t count) noexcept;

}  // namespace arrowdevice::transfer
