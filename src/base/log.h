// SPDX-License-Identifier: Apache-2.0
// The log: passes lines of text to the program's handler.
#pragma once

#include <atomic>
#include <string_view>

namespace arrowdevice {

enum class LogLevel : int { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

using LogHandler = void (*)(void* user, int level, const char* message);

void log_set_handler(LogHandler handler, void* user) noexcept;

// Logs a line. Never throws: a line that cannot be written is lost.
void log(LogLevel level, std::string_view message) noexcept;

// For logs_details(): 1 for yes, 0 for no, -1 if the variable was not read.
extern std::atomic<int> details_are_logged;
bool read_if_details_are_logged() noexcept;

// Returns true if ARROWDEVICE_LOG is "debug". Only then are there lines about single copies and allocations, also for a
// handler, because they cost time.
inline bool logs_details() noexcept {
  const int known = details_are_logged.load(std::memory_order_relaxed);
  return known != 0 && (known > 0 || read_if_details_are_logged());
}

// Logs the text that `make` returns. Never throws, and calls `make` only if details are logged.
template <typename Make>
void log_detail(Make&& make) noexcept {
  if (!logs_details()) return;
  try {
    log(LogLevel::kDebug, make());
  } catch (...) {
    return;  // there is no memory for the line
  }
}

}  // namespace arrowdevice
