// SPDX-License-Identifier: Apache-2.0
// The only code that reads the process environment.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arrowdevice::environment {

// Returns the value of a variable, or nullopt if it is absent or empty. Returns nullopt in a set-user-ID program.
std::optional<std::string> text(const char* name);

// Returns the value as a whole number, or nullopt if absent. Throws Error(EINVAL) if the value is not a number.
std::optional<int64_t> number(const char* name);

// Returns the value split at a character, without empty parts.
std::vector<std::string> list(const char* name, char separator);

// Returns the words of a list that is separated by commas. Throws Error(EINVAL) for a word that is not known.
std::vector<std::string> words(const char* name, std::span<const std::string_view> known);

// Returns true if the process has more rights than its caller (AT_SECURE). Its environment is not trusted then.
bool secure_execution() noexcept;

}  // namespace arrowdevice::environment
