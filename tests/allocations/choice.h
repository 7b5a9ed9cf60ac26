// SPDX-License-Identifier: Apache-2.0
// Which allocations of a call are made to fail. Those with one call stack are alike, as where something is done for
// each field of a schema: the first and the last stand for all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace allocations {

class Choice {
 public:
  // By the call stacks of all allocations, in their order. Those that are also `elsewhere` are left out.
  explicit Choice(std::span<const uint64_t> stacks, std::span<const uint64_t> elsewhere = {});

  // The next one after the n-th. Behind the last that was seen it is every one, for a call may make more another time.
  int64_t after(int64_t n) const;

 private:
  std::vector<bool> is_chosen_;
};

}  // namespace allocations
