// SPDX-License-Identifier: Apache-2.0
#include "sim/functions.h"

#include <array>

namespace arrowdevice::sim {
namespace {

// clang-format off
constexpr std::array<std::string_view, kFunctions> kNames = {
#define X(name, pair) #name,
    ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
    ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
    "event",
    "lost",
};
// clang-format on

}  // namespace

std::string_view name_of(Function function) { return kNames[static_cast<size_t>(function)]; }

std::optional<Function> function_named(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Function>(i);
  }
  if (name == "allocate") return Function::buffer_allocate;
  return std::nullopt;
}

bool is_optional(Function function) { return function > Function::event_destroy && function < Function::event; }

bool can_fail(Function function) {
  switch (function) {
    case Function::buffer_free:
    case Function::queue_destroy:
    case Function::event_destroy:
    case Function::sub_buffer_destroy:
    case Function::shareable_free:
    case Function::memory_close: return false;
    default: return true;
  }
}

}  // namespace arrowdevice::sim
