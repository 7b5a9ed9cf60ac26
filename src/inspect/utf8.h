// SPDX-License-Identifier: Apache-2.0
// UTF-8, checked as it comes.
#pragma once

#include <cstdint>

namespace arrowdevice::inspect {

// One text, which may come in pieces that end anywhere.
class Utf8Check {
 public:
  // False once it is no UTF-8: overlong forms, surrogates and what is above U+10FFFF are none.
  bool feed(const uint8_t* bytes, int64_t size) noexcept;

  // Whether the text may end here. The next one begins.
  bool finish() noexcept {
    const bool is_whole = missing_ == 0 && is_valid_;
    *this = {};
    return is_whole;
  }

 private:
  bool is_valid_ = true;
  int missing_ = 0;       // bytes of the character that has begun
  uint8_t least_ = 0x80;  // of the next one of these
  uint8_t most_ = 0xBF;
};

}  // namespace arrowdevice::inspect
