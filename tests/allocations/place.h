// SPDX-License-Identifier: Apache-2.0
// How far a scenario has come, in memory that the process that plays it shares with the one that watches.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "allocations/trial.h"

namespace allocations {

// The n-th allocation fails, in one of the ways in which it may; 0: none, and where they come from is recorded.
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
  bool reached = false;                    // n
  int64_t counted = 0;                     // allocations of the call, of its own thread
  int64_t blocks_kept = 0;                 // of host memory, after a first use without failure
  Recording first;                         // at first use, in the way of `place`
  std::array<Recording, kMostWays> later;  // in each way
};

// What takes longer at one place hangs.
inline constexpr unsigned kLongestSeconds = 60;

int ways(const Scenario& scenario);
memory::Plan plan_at(Place place);

// In this process, all places after that one. Ends the process where something is wrong.
void play_all(const Scenario& scenario, const char* plugin, Place last, Progress& progress);

// In this fresh process, at the place in `progress`.
void play_one(const Scenario& scenario, const char* plugin, Progress& progress);

}  // namespace allocations
