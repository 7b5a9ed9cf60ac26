// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <unistd.h>

#include <mutex>
#include <string>

#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice {
namespace {

struct Destination {
  LogHandler handler = nullptr;
  void* user = nullptr;
};

std::mutex mutex;
Destination destination;

int highest_default_level() noexcept {
  try {
    return static_cast<int>(environment::number("ARROWDEVICE_LOG").value_or(0));
  } catch (...) {
    return 0;
  }
}

void write_to_standard_error(int level, std::string_view message) {
  static const int highest = highest_default_level();
  if (level > highest) return;
  const std::string line = "arrowdevice: " + std::string(message) + "\n";
  // What standard error does not take has no other place to go.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void set_log_handler(LogHandler handler, void* user) noexcept {
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
      to.handler(to.user, static_cast<int>(level), std::string(message).c_str());
    } else {
      write_to_standard_error(static_cast<int>(level), message);
    }
  } catch (...) {
    return;
  }
}

}  // namespace arrowdevice
