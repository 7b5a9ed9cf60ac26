// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-8 character by character, for comparison with the library's checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace arrowdevice::testing {

// Returns true if the bytes are UTF-8: each code point is in its shortest form, at most U+10FFFF and not a surrogate.
inline bool is_decodable(std::span<const uint8_t> bytes) noexcept {
  while (!bytes.empty()) {
    const uint8_t first = bytes[0];
    size_t size = 0;
    for (uint8_t bit = 0x80; (first & bit) != 0; bit >>= 1) ++size;
    if (size == 0)
      size = 1;
    else if (size == 1 || size > 4)
      return false;
    if (size > bytes.size()) return false;
    uint32_t code = size == 1 ? first : first & (0x7Fu >> size);
    for (const uint8_t byte : bytes.subspan(1, size - 1)) {
      if (byte / 64 != 2) return false;
      code = code * 64 + byte % 64;
    }
    constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace arrowdevice::testing
