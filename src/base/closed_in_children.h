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

  // Sets the descriptor to the one that `open` returns. No thread forks between the two. `open` must not block.
  template <typename Open>
  void open(const Open& open) {
    const std::lock_guard lock(mutex());
    number_ = open().release();
    add();
  }

  // Returns -1 if there is none, as in a forked child.
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }
  void reset() noexcept;

 private:
  static std::mutex& mutex();
  static void close_all() noexcept;
  void add() noexcept;

  static inline ClosedInChildren* first_ = nullptr;  // the mutex guards the list

  int number_ = -1;
  ClosedInChildren* previous_ = nullptr;
  ClosedInChildren* next_ = nullptr;
};

}  // namespace arrowdevice
