// SPDX-License-Identifier: Apache-2.0
// Where the work of an async stream runs: on a thread of its own, or where the program says.
#pragma once

#include <memory>

namespace arrowdevice::stream {

class Executor {
 public:
  virtual ~Executor() = default;

  // Has `task(arg)` run soon, never within this call. A stream has one such task at a time. Returns an errno value if
  // it will not be run.
  virtual int submit(void (*task)(void*), void* arg) noexcept = 0;
};

// A thread, started here, so that a stream that has begun has where to end, and ended with the executor, which may be
// let go on that very thread. Throws Error(ENOMEM) where there is none.
std::unique_ptr<Executor> own_thread();

std::unique_ptr<Executor> programs_executor(int (*submit)(void* user, void (*task)(void*), void* arg), void* user);

}  // namespace arrowdevice::stream
