// SPDX-License-Identifier: Apache-2.0
// Text in C structs and in messages.
#pragma once

#include <concepts>
#include <cstddef>
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

}  // namespace arrowdevice
