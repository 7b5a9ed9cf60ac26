// SPDX-License-Identifier: Apache-2.0
// The progress of a scenario, in memory that the process that plays it shares with the process that watches
// it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "allocations/trial.h"

namespace allocations {

// The n-th allocation fails in this mode of failure. If n is 0, no allocation fails and the call stacks are
// recorded.
struct Place {
  int way = 0;
  int64_t n = 0;
};

// The call stacks of all allocations of a call.
struct Recording {
  int64_t n = 0;
  std::array<uint64_t, 4096> room{};

  std::span<const uint64_t> stacks() const { return std::span(room).first(static_cast<size_t>(n)); }
};

inline constexpr int kMostWays = 5;

struct Progress {
  Place place;
  bool reached = false;                    // the allocation n
  int64_t counted = 0;                     // allocations of the call on its own thread
  int64_t blocks_kept = 0;                 // blocks of host memory that remain after a first use without failure
  Recording first;                         // at first use, in the mode of `place`
  std::array<Recording, kMostWays> later;  // in each mode
};

// A place that takes longer counts as a hang.
inline constexpr unsigned kLongestSeconds = 60;

int ways(const Scenario& scenario);
memory::Plan plan_at(Place place);

// Plays all places after `last` in this process. Ends the process if a check fails.
void play_all(const Scenario& scenario, const char* plugin, Place last, Progress& progress);

// Plays the place in `progress` in this fresh process.
void play_one(const Scenario& scenario, const char* plugin, Progress& progress);

}  // namespace allocations
