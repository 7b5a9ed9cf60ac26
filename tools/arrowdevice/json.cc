// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <arrowdevice/arrowdevice.h>

#include <cstdio>

#include "utf8.h"

namespace arrowdevice::tool {
namespace {

std::string joined(const std::vector<std::string>& elements, std::string_view separator) {
  std::string out;
  for (const std::string& element : elements) {
    if (!out.empty()) out += separator;
    out += element;
  }
  return out;
}

}  // namespace

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

std::string json_string_or_null(std::string_view text) { return text.empty() ? kJsonNull : json_string(text); }

std::string json_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string json_object(const JsonFields& fields) {
  std::vector<std::string> members;
  for (const auto& [name, value] : fields) members.push_back(json_string(name) + ": " + value);
  return "{" + joined(members, ", ") + "}";
}

std::string json_list(const std::vector<std::string>& elements) { return "[" + joined(elements, ", ") + "]"; }

std::string json_lines(const std::vector<std::string>& elements) {
  return elements.empty() ? "[]" : "[\n  " + joined(elements, ",\n  ") + "\n]";
}

void print_json(const JsonFields& fields) {
  JsonFields all{{"version", json_string(arrowdevice_version())}};
  all.insert(all.end(), fields.begin(), fields.end());
  std::printf("%s\n", json_object(all).c_str());
}

}  // namespace arrowdevice::tool
