// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <sys/auxv.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.h"

namespace arrowdevice::environment {

std::optional<std::string> text(const char* name) {
  if (secure_execution()) return std::nullopt;
  const char* value = std::getenv(name);
  if (value == nullptr || value[0] == '\0') return std::nullopt;
  return value;
}

std::optional<int64_t> number(const char* name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const long long parsed = std::strtoll(value->c_str(), &end, 10);
  if (errno != 0 || *end != '\0') throw Error(EINVAL, std::string(name) + "=" + *value + ": not a whole number");
  return parsed;
}

std::vector<std::string> list(const char* name, char separator) {
  std::vector<std::string> parts;
  const auto value = text(name);
  if (!value) return parts;
  size_t start = 0;
  while (start <= value->size()) {
    const size_t end = std::min(value->find(separator, start), value->size());
    if (end > start) parts.push_back(value->substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::vector<std::string> words(const char* name, std::span<const std::string_view> known) {
  auto words = list(name, ',');
  for (const auto& word : words) {
    if (std::ranges::find(known, word) != known.end()) continue;
    std::string all;
    for (const auto one : known) all += (all.empty() ? "" : ", ") + std::string(one);
    throw Error(EINVAL, std::string(name) + ": \"" + word + "\" is none of " + all);
  }
  return words;
}

bool secure_execution() noexcept { return getauxval(AT_SECURE) != 0; }

}  // namespace arrowdevice::environment
