// SPDX-License-Identifier: Apache-2.0
// Threads of the library beside those of the program: detached, deaf to the program's signals, and out of the drivers
// before these shut down.
#pragma once

#include <functional>

namespace arrowdevice::background {

// Runs `body`, which must not throw, on a new thread. Throws Error(ENOMEM) where none can be started.
void start(std::function<void()> body);

// Marks the calling thread as one that may be in a driver: `exit` waits a while for it to get out of there. Where
// may_work() is false, exit has begun and nothing may be called any more.
class Busy {
 public:
  Busy();
  ~Busy();
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  bool may_work() const noexcept { return may_work_; }

 private:
  bool may_work_;
};

}  // namespace arrowdevice::background
