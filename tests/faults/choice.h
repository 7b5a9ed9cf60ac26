// SPDX-License-Identifier: Apache-2.0
// Chooses the allocations of a call that are made to fail. Allocations with the same call stack are alike,
// for example if the library repeats a step for each field of a schema. Only the first and the last of them
// are tried.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace faults {

class Choice {
 public:
  // Takes the call stacks of all allocations in their order. Leaves out those that are also in `elsewhere`.
  explicit Choice(std::span<const uint64_t> stacks, std::span<const uint64_t> elsewhere = {});

  // Returns the next chosen allocation after the n-th. Behind the last recorded allocation it returns every
  // number, because a later call may allocate more.
  int64_t after(int64_t n) const;

 private:
  std::vector<bool> is_chosen_;
};

}  // namespace faults
