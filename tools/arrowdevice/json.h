// SPDX-License-Identifier: Apache-2.0
// Texts of JSON values. Functions of the commands nest them and print one object.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arrowdevice::tool {

using JsonFields = std::vector<std::pair<std::string_view, std::string>>;

inline constexpr const char* kJsonNull = "null";

// Returns the text as a JSON string with quotes. Invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

// Returns a string, or null for an empty text.
std::string json_string_or_null(std::string_view text);

inline std::string json_bool(bool value) { return value ? "true" : "false"; }

std::string json_number(double value);
template <std::integral Integer>
std::string json_number(Integer value) {
  return std::to_string(value);
}

std::string json_object(const JsonFields& fields);

// Returns a list on one line.
std::string json_list(const std::vector<std::string>& elements);

// Returns a list with a line for each element.
std::string json_lines(const std::vector<std::string>& elements);

// Prints an object with the version of the library before the fields.
void print_json(const JsonFields& fields);

}  // namespace arrowdevice::tool
