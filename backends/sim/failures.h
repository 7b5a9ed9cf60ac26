// SPDX-License-Identifier: Apache-2.0
// Failures on purpose: counts the calls of each function and says which one fails.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/configuration.h"

namespace arrowdevice::sim {

class Failures {
 public:
  // Forgets all counts and plans.
  void reset(std::vector<PlannedFailure> planned);

  // `failure.call` counts from now: 1 is the next call.
  void add(PlannedFailure failure);
  void forget_planned();  // what was injected stays counted

  // Counts a call; its errno value if this is one that fails.
  std::optional<int> due(Function function);

  // Counts a call and throws if this is one that fails.
  void check(Function function);

  int64_t calls(Function function) const;
  int64_t injected() const;

 private:
  mutable std::mutex mutex_;
  std::array<int64_t, kFunctions> calls_{};
  std::vector<PlannedFailure> planned_;
  int64_t injected_ = 0;
};

}  // namespace arrowdevice::sim
