// SPDX-License-Identifier: Apache-2.0
// What the program was asked to do.
#pragma once

#include <cstdint>

#include "simulated.h"

namespace soak {

struct Options {
  int64_t seconds = 60;
  int64_t round_seconds = 60;
  int64_t threads = 16;
  int64_t fault_percent = 5;
  int64_t operations = -1;  // of each thread, in one round; in place of the time
  int64_t seed = 1;
  bool simulated_only = false;
  Mistake mistake = Mistake::kNone;
};

// Ends the program with a text where it does not understand a word.
Options parse(int argc, char** argv);

}  // namespace soak
