// SPDX-License-Identifier: Apache-2.0
#include "sizes.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>

namespace arrowdevice::tool {
namespace {

constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

}  // namespace

std::string rounded_size(int64_t bytes) {
  if (bytes < 0) return "unknown";
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string exact_size(int64_t bytes) {
  size_t unit = 0;
  for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return std::to_string(bytes) + " " + kUnits[unit];
}

std::optional<int64_t> parse_size(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 40;
  constexpr std::string_view kSuffixes = "KMG";
  int shift = 0;
  if (!text.empty()) {
    const char last = text.back();
    const size_t suffix = kSuffixes.find(last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last);
    if (suffix != kSuffixes.npos) {
      shift = 10 * static_cast<int>(suffix + 1);
      text.remove_suffix(1);
    }
  }
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return {};
  if (number < 1 || number > kMost >> shift) return {};
  return number << shift;
}

}  // namespace arrowdevice::tool
