// SPDX-License-Identifier: Apache-2.0
// The log: passes lines of text to the program's handler.
#pragma once

#include <string_view>

namespace arrowdevice {

enum class LogLevel : int { kError = 0, kWarning = 1, kInfo = 2, kDebug = 3 };

using LogHandler = void (*)(void* user, int level, const char* message);

void log_set_handler(LogHandler handler, void* user) noexcept;

// Logs a line. Never throws: a line that cannot be written is lost.
void log(LogLevel level, std::string_view message) noexcept;

// Returns true if ARROWDEVICE_LOG includes this level. Lines about single copies and allocations cost time, so they
// exist only if it includes kDebug, also for a handler.
bool is_logged(LogLevel level);

}  // namespace arrowdevice
