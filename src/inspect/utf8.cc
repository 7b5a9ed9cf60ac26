// SPDX-License-Identifier: Apache-2.0
#include "inspect/utf8.h"

#include <cstring>

namespace arrowdevice::inspect {
namespace {

constexpr uint8_t kLeastContinuation = 0x80;
constexpr uint8_t kMostContinuation = 0xBF;

// Returns the number of leading ASCII bytes, in words of eight bytes.
int64_t ascii_words(const uint8_t* bytes, int64_t size) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  int64_t done = 0;
  for (uint64_t word; size - done >= 8; done += 8) {
    std::memcpy(&word, bytes + done, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  return done;
}

}  // namespace

bool Utf8Check::feed(const uint8_t* bytes, int64_t size) noexcept {
  for (int64_t i = 0; is_valid_ && i < size;) {
    if (missing_ == 0) i += ascii_words(bytes + i, size - i);
    if (i == size) break;
    const uint8_t byte = bytes[i++];
    if (missing_ > 0) {
      is_valid_ = byte >= least_ && byte <= most_;
      --missing_;
      least_ = kLeastContinuation;
      most_ = kMostContinuation;
    } else if (byte >= 0x80) {
      // Table 3-7 of the Unicode standard: the bytes that may follow the first byte of a character.
      is_valid_ = byte >= 0xC2 && byte <= 0xF4;
      missing_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
      if (byte == 0xE0) least_ = 0xA0;
      if (byte == 0xED) most_ = 0x9F;
      if (byte == 0xF0) least_ = 0x90;
      if (byte == 0xF4) most_ = 0x8F;
    }
  }
  return is_valid_;
}

}  // namespace arrowdevice::inspect
