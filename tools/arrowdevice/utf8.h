// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace arrowdevice::tool {

// Returns the length in bytes of the first character of a text that is not empty. Returns 1 for an invalid byte.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80                       ? 1
                        : byte(0) >= 0xc2 && byte(0) <= 0xdf ? 2
                        : byte(0) >= 0xe0 && byte(0) <= 0xef ? 3
                        : byte(0) >= 0xf0 && byte(0) <= 0xf4 ? 4
                                                             : 1;
  if (length > text.size()) return 1;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 1;
  }
  // Rejects overlong forms, surrogates and code points above U+10FFFF.
  if (byte(0) == 0xe0 && byte(1) < 0xa0) return 1;
  if (byte(0) == 0xed && byte(1) > 0x9f) return 1;
  if (byte(0) == 0xf0 && byte(1) < 0x90) return 1;
  if (byte(0) == 0xf4 && byte(1) > 0x8f) return 1;
  return length;
}

}  // namespace arrowdevice::tool
