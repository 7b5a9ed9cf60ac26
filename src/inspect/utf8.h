// SPDX-License-Identifier: Apache-2.0
// Checks UTF-8. Overlong forms, surrogates and code points above U+10FFFF are invalid.
#pragma once

#include <cstdint>
#include <span>

namespace arrowdevice::inspect {

// Returns true if the bytes are whole characters.
bool is_utf8(const uint8_t* bytes, int64_t size) noexcept;

// Returns true if a character may begin with the byte: in UTF-8 it begins with any byte but a continuation byte.
inline bool begins_character(uint8_t byte) noexcept { return (byte & 0xC0) != 0x80; }

// One implementation of is_utf8().
struct Utf8Implementation {
  const char* name;
  bool (*is_utf8)(const uint8_t* bytes, int64_t size) noexcept;
  bool (*is_supported)() noexcept;
};

// Returns all implementations of this processor family, the fastest first. Every CPU supports the last one.
std::span<const Utf8Implementation> utf8_implementations() noexcept;

// Checks a text that arrives in pieces. A piece may end within a character.
class Utf8Check {
 public:
  void feed(const uint8_t* bytes, int64_t size) noexcept;

  // Returns true if the text is valid and may end here. Begins the next text.
  bool finish() noexcept {
    const bool is_whole = n_begun_ == 0 && is_valid_;
    *this = {};
    return is_whole;
  }

 private:
  bool is_valid_ = true;
  int64_t n_begun_ = 0;  // bytes of an unfinished character
  uint8_t begun_[4] = {};
};

}  // namespace arrowdevice::inspect
