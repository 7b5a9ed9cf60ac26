// SPDX-License-Identifier: Apache-2.0
#include "xml.h"

#include <cstddef>

#include "utf8.h"

namespace arrowdevice::tool {
namespace {

// Returns a character as XML 1.0 allows it in an attribute.
std::string xml_character(std::string_view character) {
  constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD
  if (character == "&") return "&amp;";
  if (character == "<") return "&lt;";
  if (character == ">") return "&gt;";
  if (character == "\"") return "&quot;";
  if (character == "\t" || character == "\n" || character == "\r") {
    return "&#" + std::to_string(static_cast<int>(character[0])) + ";";
  }
  const auto first = static_cast<unsigned char>(character[0]);
  const bool is_invalid = first < 0x20 || (character.size() == 1 && first >= 0x80);
  const bool is_no_character = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";  // U+FFFE and U+FFFF
  return is_invalid || is_no_character ? kReplacement : std::string(character);
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out += xml_character(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

std::string xml_string(std::string_view text) { return "\"" + xml_text(text) + "\""; }

}  // namespace arrowdevice::tool
