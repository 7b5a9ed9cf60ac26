// SPDX-License-Identifier: Apache-2.0
// Ends waits of a thread at its own request. A language sets a check for signals on the thread that handles them.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/condition_variable.h"
#include "base/deadline.h"

namespace arrowdevice::interrupt {

// The longest time between two checks.
inline constexpr int64_t kSliceNs = 50'000'000;

// Sets the check of the calling thread, or removes it if `check` is NULL.
void set_check(int (*check)(void* user), void* user) noexcept;

// Returns true if the calling thread has a check.
bool is_set() noexcept;

// Runs the check of the calling thread. Throws ECANCELED if it ends the wait. The caller holds no lock.
void check();

// Runs the check when it is due. Made at the beginning of a wait.
class RegularCheck {
 public:
  void run_if_due() {
    if (next_.left() > 0) return;
    check();
    next_ = Deadline(kSliceNs);
  }

 private:
  Deadline next_{kSliceNs};
};

// Calls `wait(timeout_ns)` until it returns true, and checks between the calls. Returns false if the time-out ends.
template <typename Wait>
bool wait_in_slices(int64_t timeout_ns, const Wait& wait) {
  if (!is_set()) return wait(timeout_ns);
  const Deadline deadline(timeout_ns);
  for (;;) {
    const int64_t left = deadline.left();
    if (left < 0) return wait(left);
    if (wait(left == ARROWDEVICE_NO_TIMEOUT ? kSliceNs : std::min(left, kSliceNs))) return true;
    check();
  }
}

// Waits until the predicate is true. Returns false if the deadline passes first. The lock is not held during a check.
template <typename Predicate>
bool wait(ConditionVariable& changed, std::unique_lock<std::mutex>& lock, const Deadline& deadline,
          const Predicate& predicate) {
  std::optional<RegularCheck> regular;
  if (is_set()) regular.emplace();
  while (!predicate()) {
    const int64_t left = deadline.left();
    if (left < 0) return false;
    if (left == ARROWDEVICE_NO_TIMEOUT && !regular) {
      changed.wait(lock);
      continue;
    }
    const int64_t slice = left == ARROWDEVICE_NO_TIMEOUT ? kSliceNs : std::min(left, kSliceNs);
    changed.wait_for(lock, std::chrono::nanoseconds(slice));
    if (!regular) continue;
    lock.unlock();
    regular->run_if_due();
    lock.lock();
  }
  return true;
}

}  // namespace arrowdevice::interrupt
