// SPDX-License-Identifier: Apache-2.0
// Handles the limit on file sizes (`ulimit -f`). At the limit, a write fails with EFBIG and the kernel sends SIGXFSZ,
// which ends the process.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace arrowdevice::sim {

// While this object lives, a call of this thread that exceeds the limit fails with EFBIG and sends no signal. A signal
// that was pending before stays pending. The destructor preserves errno.
class FileSizeErrors {
 public:
  FileSizeErrors() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~FileSizeErrors() {
    const int error = errno;
    const std::timespec at_once{};
    if (!was_pending_) {
      while (::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  FileSizeErrors(const FileSizeErrors&) = delete;
  FileSizeErrors& operator=(const FileSizeErrors&) = delete;

 private:
  bool was_pending_;
  sigset_t signal_;
  sigset_t before_;
};

}  // namespace arrowdevice::sim
