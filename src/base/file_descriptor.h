// SPDX-License-Identifier: Apache-2.0
// An owned file descriptor.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

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
