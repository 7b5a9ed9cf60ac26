// SPDX-License-Identifier: Apache-2.0
// Executors run the work of an async stream, on a thread of the library or in the program's executor.
#pragma once

#include <memory>

namespace arrowdevice::stream {

class Executor {
 public:
  virtual ~Executor() = default;

  // Schedules `task(arg)`, and never runs it within this call. A stream has one such task at a time. Returns an errno
  // value if the task cannot be run.
  virtual int submit(void (*task)(void*), void* arg) noexcept = 0;
};

// Starts a thread at once, so that a started stream can always end. The thread ends with the executor, which may be
// destroyed on that very thread. Throws Error(ENOMEM) if no thread can start.
std::unique_ptr<Executor> own_thread();

std::unique_ptr<Executor> programs_executor(int (*submit)(void* user, void (*task)(void*), void* arg), void* user);

}  // namespace arrowdevice::stream
