// SPDX-License-Identifier: Apache-2.0
#include "faults/choice.h"

#include <map>
#include <set>

namespace faults {
namespace {

constexpr int kMostAlike = 1;  // and the last

}  // namespace

Choice::Choice(std::span<const uint64_t> stacks, std::span<const uint64_t> elsewhere) : is_chosen_(stacks.size()) {
  const std::set<uint64_t> left_out(elsewhere.begin(), elsewhere.end());
  struct Seen {
    int times = 0;
    size_t last = 0;
  };
  std::map<uint64_t, Seen> all;
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (left_out.contains(stacks[i])) continue;
    auto& seen = all[stacks[i]];
    is_chosen_[i] = ++seen.times <= kMostAlike;
    seen.last = i;
  }
  for (const auto& [stack, seen] : all) is_chosen_[seen.last] = true;
}

int64_t Choice::after(int64_t n) const {
  auto next = static_cast<size_t>(n);  // allocations count from 1
  while (next < is_chosen_.size() && !is_chosen_[next]) ++next;
  return static_cast<int64_t>(next) + 1;
}

}  // namespace faults
