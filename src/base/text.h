// SPDX-License-Identifier: Apache-2.0
// Text in C structs and in messages.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace arrowdevice {

// Copies a text into an array of characters and terminates it. Cuts a text that is too long.
template <std::size_t capacity>
void copy_text(char (&out)[capacity], std::string_view text) {
  out[text.copy(out, capacity - 1)] = '\0';
}

// Returns a text such as "4096 bytes".
template <std::integral Integer>
std::string bytes_text(Integer bytes) {
  return std::to_string(bytes) + " bytes";
}

// Returns a size that is easy to read, such as "512 B" or "1.5 GiB". The last digit is rounded down.
inline std::string size_text(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  constexpr int64_t kOfNext = 1024;
  size_t unit = 0;
  int64_t whole = bytes;
  int64_t rest = 0;
  for (; whole >= kOfNext && unit + 1 < std::size(kUnits); ++unit) {
    rest = whole % kOfNext;
    whole /= kOfNext;
  }
  const std::string digit = unit == 0 ? "" : "." + std::to_string(rest * 10 / kOfNext);
  return std::to_string(whole) + digit + " " + kUnits[unit];
}

}  // namespace arrowdevice
