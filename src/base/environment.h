// SPDX-License-Identifier: Apache-2.0
// The one place that reads the process environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arrowdevice::environment {

// The value of a variable; empty and absent are the same. Nothing in a set-user-ID program.
std::optional<std::string> text(const char* name);

// The value as a whole number; nullopt where absent. Throws Error(EINVAL) for anything else than a number.
std::optional<int64_t> number(const char* name);

// The value split at a character, empty parts left out.
std::vector<std::string> list(const char* name, char separator);

// Whether the process runs with more rights than its caller (AT_SECURE), so that its environment is not to be trusted.
bool secure_execution() noexcept;

}  // namespace arrowdevice::environment
