// SPDX-License-Identifier: Apache-2.0
// The backend table. Its functions find the object of a handle, call it, and convert exceptions to errors.
#pragma once

#include <arrowdevice/backend.h>

#include <vector>

#include "sim/functions.h"

namespace arrowdevice::sim {

// Returns the table for simulation() without some optional functions. Both functions of a pair are removed.
arrowdevice_backend make_table(const std::vector<Function>& without);

}  // namespace arrowdevice::sim
