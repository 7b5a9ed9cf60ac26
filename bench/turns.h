// SPDX-License-Identifier: Apache-2.0
// Times works in turns in one process, so that other load affects all of them equally.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace arrowdevice::bench {

using Work = std::function<void()>;

// The number of turns. A turn measures each work once.
struct Effort {
  size_t least_turns;
  double seconds;  // for further turns
};

// Each function returns the median time of a call of each work, in seconds.

// The caches have the data of previous calls. Short calls are measured in groups, because the clock takes about as long
// as the shortest.
std::vector<double> time_warm(const std::vector<Work>& works, const Effort& effort);

// The caches are evicted before each call.
std::vector<double> time_cold(const std::vector<Work>& works, const Effort& effort);

}  // namespace arrowdevice::bench
