// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string>

#include "base/environment.h"

namespace arrowdevice {
namespace {

struct Destination {
  LogHandler handler = nullptr;
  void* user = nullptr;
};

std::mutex mutex;
Destination destination;

// Lines up to this length reach a handler without an allocation, because the line may report that memory is exhausted.
constexpr size_t kLongestOnStack = 1024;

void write_line(std::string_view message) noexcept {
  const auto part = [](std::string_view text) { return iovec{const_cast<char*>(text.data()), text.size()}; };
  const iovec line[] = {part("arrowdevice: "), part(message), part("\n")};
  // There is no other destination for text that standard error does not accept.
  [[maybe_unused]] const auto written = ::writev(STDERR_FILENO, line, static_cast<int>(std::size(line)));
}

// Reads the level by its name or number.
int highest_default_level() {
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  const auto value = environment::text("ARROWDEVICE_LOG");
  if (!value) return 0;
  for (int level = 0; level < static_cast<int>(std::size(kNames)); ++level) {
    if (*value == kNames[level] || *value == std::to_string(level)) return level;
  }
  write_line("ARROWDEVICE_LOG=" + *value + ": not a level, which are error, warning, info and debug, or 0 to 3");
  return 0;
}

int highest_level() {
  static const int highest = highest_default_level();
  return highest;
}

void call_handler(const Destination& to, int level, std::string_view message) {
  if (message.size() >= kLongestOnStack) return to.handler(to.user, level, std::string(message).c_str());
  char line[kLongestOnStack];
  *std::copy(message.begin(), message.end(), line) = '\0';
  to.handler(to.user, level, line);
}

void write_to_standard_error(int level, std::string_view message) {
  if (level <= highest_level()) write_line(message);
}

}  // namespace

bool is_logged(LogLevel level) { return static_cast<int>(level) <= highest_level(); }

void log_set_handler(LogHandler handler, void* user) noexcept {
  const std::lock_guard lock(mutex);
  destination = {handler, user};
}

void log(LogLevel level, std::string_view message) noexcept {
  try {
    Destination to;
    {
      const std::lock_guard lock(mutex);
      to = destination;
    }
    if (to.handler != nullptr) {
      call_handler(to, static_cast<int>(level), message);
    } else {
      write_to_standard_error(static_cast<int>(level), message);
    }
  } catch (...) {
    return;
  }
}

}  // namespace arrowdevice
