// SPDX-License-Identifier: Apache-2.0
// The names of the entry points that the backend uses.
#pragma once

namespace standin::level_zero {

inline constexpr const char* kEntryPoints[] = {
#define X(name) #name,
#include "level_zero/symbols.inc"
#undef X
};

}  // namespace standin::level_zero
