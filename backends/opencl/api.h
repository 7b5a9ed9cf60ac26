// SPDX-License-Identifier: Apache-2.0
// The OpenCL loader, opened at first use and never closed.
#pragma once

#include <string>

#include "opencl/vendor.h"

namespace arrowdevice::opencl {

// The loader's functions under their own names: api().clFlush(queue).
struct Api {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#define Y(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "opencl/symbols.inc"
#undef X
#undef Y
};

// Opens libOpenCL.so.1, or the absolute path in ARROWDEVICE_OPENCL_LIBRARY. Throws ENODEV if this fails. The next call
// tries again.
const Api& open_api();

// Returns the functions. The caller has a handle, so open_api() has succeeded before.
const Api& api() noexcept;

}  // namespace arrowdevice::opencl
