// SPDX-License-Identifier: Apache-2.0
// Threads of the library. They are detached, block the program's signals, and leave the drivers before the drivers shut
// down.
#pragma once

#include <functional>

namespace arrowdevice::background {

// Runs `body`, which must not throw, on a new thread. Throws Error(ENOMEM) if no thread can start.
void start(std::function<void()> body);

// Marks the calling thread as a thread that may be in a driver. `exit` waits for a limited time until such threads have
// left. If is_allowed() returns false, exit has begun and the thread must not call a driver.
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
