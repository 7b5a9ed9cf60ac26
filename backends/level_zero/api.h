// SPDX-License-Identifier: Apache-2.0
// The Level Zero loader, opened at first use and never closed.
#pragma once

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

// The loader's functions under their own names: api().zeMemFree(context, memory).
struct Api {
#define X(name) decltype(&::name) name = nullptr;  // NOLINT(bugprone-macro-parentheses)
#include "level_zero/symbols.inc"
#undef X
};

// Opens libze_loader.so.1 and starts the drivers. Throws ENODEV with the reason if this fails, and throws the same
// error on later calls.
const Api& open_api();

// Returns the functions. The caller has a handle, so open_api() has succeeded before.
const Api& api() noexcept;

}  // namespace arrowdevice::level_zero
