// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench_copies.h"

namespace arrowdevice::tool {

// Returns an SVG picture: a line for each pair of devices, and the speed of its copies by size. Both scales are
// logarithmic. The line of a pair without a direct path is dashed. Failed copies have no point.
std::string plot_of(const std::vector<Trip>& trips);

}  // namespace arrowdevice::tool
