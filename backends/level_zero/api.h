// SPDX-License-Identifier: Apache-2.0
// The Level Zero loader, opened at first use and never closed.
#pragma once

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

// Its functions, under their own names: api().zeMemFree(context, memory).
struct Api {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "level_zero/symbols.inc"
#undef X
};

// Opens libze_loader.so.1 and starts the drivers. Throws ENODEV with the reason where that cannot be, and the same each
// time that it is asked.
const Api& open_api();

// The functions, once open_api() has succeeded: whoever holds a handle got it through them.
const Api& api() noexcept;

}  // namespace arrowdevice::level_zero
