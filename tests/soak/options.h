// SPDX-License-Identifier: Apache-2.0
// The options of the program.
#pragma once

#include <cstdint>

#include "simulated.h"

namespace soak {

struct Options {
  int64_t seconds = 60;
  int64_t round_seconds = 60;
  int64_t threads = 16;
  int64_t fault_percent = 5;
  int64_t operations = -1;  // of each thread in a round; instead of the time
  int64_t seed = 1;
  bool simulated_only = false;
  Mistake mistake = Mistake::kNone;
};

// Parses the arguments. Ends the program with a message if an argument is unknown.
Options parse(int argc, char** argv);

}  // namespace soak
