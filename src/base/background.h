// SPDX-License-Identifier: Apache-2.0
// Threads of the library beside those of the program: detached, deaf to the program's signals, and out of the drivers
// before these shut down.
#pragma once

#include <functional>

namespace arrowdevice::background {

// Runs `body`, which must not throw, on a new thread. Throws Error(ENOMEM) where none can be started.
void start(std::function<void()> body);

// Marks the calling thread as one that may be in a driver: `exit` waits a while for it to get out of there. Where
// is_allowed() is false, exit has begun and nothing may be called any more.
class DriverCallGuard {
 public:
  DriverCallGuard();
  ~DriverCallGuard();
  DriverCallGuard(const DriverCallGuard&) = delete;
  DriverCallGuard& operator=(const DriverCallGuard&) = delete;

  bool is_allowed() const noexcept { return is_allowed_; }

 private:
  bool is_allowed_;
};

}  // namespace arrowdevice::background
