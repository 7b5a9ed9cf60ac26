// SPDX-License-Identifier: Apache-2.0
#include "transfer/bits.h"

#include <bit>
#include <cstring>

#include "base/checked.h"

namespace arrowdevice::transfer {

static_assert(std::endian::native == std::endian::little, "words of bits are read as little endian");

void copy_bits(const uint8_t* source, int64_t first, int64_t count, uint8_t* target) noexcept {
  if (count == 0) return;
  source += first >> 3;
  const int shift = static_cast<int>(first & 7);
  const int64_t bytes = bytes_for_bits(count);
  if (shift == 0) {
    std::memmove(target, source, static_cast<size_t>(bytes));
  } else {
    const int64_t source_bytes = bytes_for_bits(shift + count);
    int64_t i = 0;
    // A word of the target needs nine bytes of the source. Both are read before later bytes are written, so that the
    // source may be the target itself.
    for (; i + 9 <= source_bytes && i + 8 <= bytes; i += 8) {
      uint64_t low;
      std::memcpy(&low, source + i, sizeof low);
      const uint64_t word = low >> shift | uint64_t{source[i + 8]} << (64 - shift);
      std::memcpy(target + i, &word, sizeof word);
    }
    for (; i < bytes; ++i) {
      const unsigned next = i + 1 < source_bytes ? source[i + 1] : 0u;
      target[i] = static_cast<uint8_t>((source[i] >> shift | next << (8 - shift)) & 0xFF);
    }
  }
  if (const int tail = static_cast<int>(count & 7); tail != 0) {
    target[bytes - 1] = static_cast<uint8_t>(target[bytes - 1] & ((1u << tail) - 1));
  }
}

int64_t count_bits(const uint8_t* bits, int64_t first, int64_t count) noexcept {
  int64_t set = 0;
  int64_t at = first;
  for (; at < first + count && at % 8 != 0; ++at) set += bits[at / 8] >> (at % 8) & 1;
  for (; first + count - at >= 64; at += 64) {
    uint64_t word;
    std::memcpy(&word, bits + at / 8, sizeof word);
    set += std::popcount(word);
  }
  for (; at < first + count; ++at) set += bits[at / 8] >> (at % 8) & 1;
  return set;
}

}  // namespace arrowdevice::transfer
