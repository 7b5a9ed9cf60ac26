// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace arrowdevice::bench {

// Returns the number of operator new calls so far in the program and the library.
int64_t allocations() noexcept;

}  // namespace arrowdevice::bench
