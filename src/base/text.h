// SPDX-License-Identifier: Apache-2.0
// Text in C structs.
#pragma once

#include <cstddef>
#include <string_view>

namespace arrowdevice {

// Copies a text into an array of characters and terminates it. Cuts a text that is too long.
template <std::size_t capacity>
void copy_text(char (&out)[capacity], std::string_view text) {
  out[text.copy(out, capacity - 1)] = '\0';
}

}  // namespace arrowdevice
