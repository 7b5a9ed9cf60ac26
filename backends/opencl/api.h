// SPDX-License-Identifier: Apache-2.0
// The OpenCL loader, opened at first use and never closed.
#pragma once

#include <string>

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

// Its functions, under their own names: api().clFlush(queue).
struct Api {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#define Y(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "opencl/symbols.inc"
#undef X
#undef Y
};

// Opens libOpenCL.so.1, or what ARROWDEVICE_OPENCL_LIBRARY names by an absolute path. Throws ENODEV where that cannot
// be; the next call tries again.
const Api& open_api();

// The functions, once open_api() has succeeded: whoever holds a handle got it through them.
const Api& api() noexcept;

}  // namespace arrowdevice::opencl
