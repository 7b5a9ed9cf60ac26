// SPDX-License-Identifier: Apache-2.0
// Planned failures. Counts the calls of each function and decides which call fails.
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

  // Adds a planned failure. `failure.call` counts from now on, and 1 is the next call.
  void add(PlannedFailure failure);
  void forget_planned();  // injected failures stay counted

  // Counts a call. Returns the errno value if this call fails.
  std::optional<int> due(Function function);

  // Counts a call. Throws if this call fails.
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
