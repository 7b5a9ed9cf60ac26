// SPDX-License-Identifier: Apache-2.0
// Descriptors that a forked child closes, because the other end would otherwise not notice the end of the parent.
#pragma once

#include <mutex>
#include <utility>

#include "base/file_descriptor.h"

namespace arrowdevice {

class ClosedInChildren {
 public:
  ClosedInChildren() = default;
  ~ClosedInChildren() { reset(); }
  ClosedInChildren(const ClosedInChildren&) = delete;
  ClosedInChildren& operator=(const ClosedInChildren&) = delete;

  // Sets the descriptor, which must be absent, to the one that `open` returns. No thread forks between the two. `open`
  // must not block. `shown`, if not NULL, is a variable that has the number from now on, and -1 in a forked child. It
  // must outlive the descriptor.
  template <typename Open>
  void open(const Open& open, int* shown = nullptr) {
    const std::lock_guard lock(mutex());
    add(open().release(), shown);
  }

  // Returns -1 if there is none, as in a forked child.
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept;

 private:
  static std::mutex& mutex();
  static void close_all() noexcept;
  void add(int number, int* shown) noexcept;

  static inline ClosedInChildren* first_ = nullptr;  // the mutex guards the list

  int number_ = -1;
  int* shown_ = nullptr;
  ClosedInChildren* previous_ = nullptr;
  ClosedInChildren* next_ = nullptr;
};

}  // namespace arrowdevice
