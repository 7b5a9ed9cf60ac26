// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace arrowdevice::bench {

// How often operator new was called so far, by the program and by the library in it.
int64_t allocations() noexcept;

}  // namespace arrowdevice::bench
