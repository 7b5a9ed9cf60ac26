// SPDX-License-Identifier: Apache-2.0
// An owned file descriptor.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace arrowdevice {

class FileDescriptor {
 public:
  // Returns a duplicate that closes on `exec`, or none with `errno` set.
  static FileDescriptor duplicate_of(int number) noexcept {
    return FileDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, 0));
  }

  FileDescriptor() = default;
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = other.release();
    }
    return *this;
  }

  // Makes the descriptor close on `exec`. `what` names it in the message of the Error that the call throws.
  void close_on_exec(const char* what) const {
    if (::fcntl(number_, F_SETFD, FD_CLOEXEC) == 0) return;
    throw Error(errno, format("%s does not close on exec: %s", what, std::strerror(errno)));
  }

  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset() noexcept {
    if (number_ >= 0) ::close(release());
  }

 private:
  int number_ = -1;
};

}  // namespace arrowdevice
