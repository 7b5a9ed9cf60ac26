// SPDX-License-Identifier: Apache-2.0
// The backend table: functions that find the object behind a handle, call it, and let no exception out.
#pragma once

#include <arrowdevice/backend.h>

#include <vector>

#include "sim/functions.h"

namespace arrowdevice::sim {

// The table over simulation(), without some of its optional functions. Of a pair, both go.
arrowdevice_backend make_table(const std::vector<Function>& without);

}  // namespace arrowdevice::sim
