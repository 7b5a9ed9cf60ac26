// SPDX-License-Identifier: Apache-2.0
// An incremental check of UTF-8.
#pragma once

#include <cstdint>

namespace arrowdevice::inspect {

// A text, which may arrive in pieces that end anywhere.
class Utf8Check {
 public:
  // Returns false if the text is not UTF-8. Overlong forms, surrogates and code points above U+10FFFF are invalid.
  bool feed(const uint8_t* bytes, int64_t size) noexcept;

  // Returns true if the text may end here, and begins the next text.
  bool finish() noexcept {
    const bool is_whole = missing_ == 0 && is_valid_;
    *this = {};
    return is_whole;
  }

 private:
  bool is_valid_ = true;
  int missing_ = 0;       // remaining bytes of the current character
  uint8_t least_ = 0x80;  // bounds of its next byte
  uint8_t most_ = 0xBF;
};

}  // namespace arrowdevice::inspect
