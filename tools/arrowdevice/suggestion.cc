// SPDX-License-Identifier: Apache-2.0
#include "suggestion.h"

#include <algorithm>
#include <cstddef>

namespace arrowdevice::tool {
namespace {

// Returns the number of letters to insert, remove, replace or exchange with their neighbour.
size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<size_t>> table(one.size() + 1, std::vector<size_t>(other.size() + 1));
  for (size_t i = 0; i <= one.size(); ++i) table[i][0] = i;
  for (size_t j = 0; j <= other.size(); ++j) table[0][j] = j;
  for (size_t i = 1; i <= one.size(); ++i) {
    for (size_t j = 1; j <= other.size(); ++j) {
      const size_t replaced = table[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
      }
    }
  }
  return table.back().back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;
  constexpr size_t kMostMistakes = 2;
  if (word.size() <= kMostMistakes || word.size() > kLongest || candidates.empty()) return "";
  const auto mistakes = [&](const std::string& candidate) { return distance(word, candidate); };
  const auto nearest = std::ranges::min_element(candidates, {}, mistakes);
  return mistakes(*nearest) <= kMostMistakes ? " (did you mean \"" + *nearest + "\"?)" : "";
}

}  // namespace arrowdevice::tool
