// SPDX-License-Identifier: Apache-2.0
// How far a scenario has come, in memory that the process that plays it shares with the one that watches.
#pragma once

#include <cstdint>

#include "allocations/trial.h"

namespace allocations {

// The n-th allocation fails, in one of the ways in which it may; 0: none.
struct Place {
  int way = 0;
  int64_t n = 0;
};

struct Progress {
  Place place;
  bool reached = false;     // n
  int64_t counted = 0;      // allocations of the call
  int64_t blocks_kept = 0;  // of host memory, after a first use without failure
};

int ways(const Scenario& scenario);
memory::Plan plan_at(Place place);

// In this process, from there on. Ends the process where something is wrong.
void play_all(const Scenario& scenario, const char* plugin, Place start, Progress& progress);

// In this fresh process, at the place in `progress`.
void play_one(const Scenario& scenario, const char* plugin, Progress& progress);

}  // namespace allocations
