// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <cstdio>

#include "utf8.h"

namespace arrowdevice::tool {

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto first = static_cast<unsigned char>(text[i]);
    if (first == '"' || first == '\\') {
      out += '\\';
      out += text[i];
    } else if (first < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", first);
      out += escape;
    } else if (length == 1 && first >= 0x80) {
      out += "\\ufffd";
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out + '"';
}

}  // namespace arrowdevice::tool
