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

[[gnu::hot]] int64_t count_bits(const uint8_t* bits, int64_t first, int64_t count) noexcept {
  if (count == 0) return 0;
  bits += first >> 3;
  uint64_t wanted = ~uint64_t{0} << (first & 7);  // bits of the next word
  int64_t left = (first & 7) + count;             // bits from the beginning of the next word to the end
  int64_t set = 0;
  for (; left > 64; left -= 64, bits += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bits, sizeof word);
    set += std::popcount(word & wanted);
    wanted = ~uint64_t{0};
  }
  uint64_t last = 0;
  std::memcpy(&last, bits, static_cast<size_t>(bytes_for_bits(left)));
  return set + std::popcount(last & wanted & (~uint64_t{0} >> (64 - left)));
}

}  // namespace arrowdevice::transfer
