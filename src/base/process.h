// SPDX-License-Identifier: Apache-2.0
// The life cycle of the process: tells if `exit` has begun, and if this is a child of the process that opened the
// drivers.
#pragma once

#include <mutex>

namespace arrowdevice::process {

// Registers the exit handler. Must be called after all calls that may register exit handlers of a driver. Handlers run
// in reverse order, so the library's handler then runs before the driver's.
void watch_exit() noexcept;

// Returns true if no driver may be called any more. Releases then free host memory only.
bool exit_has_begun() noexcept;

// Registers a function that runs when `exit` begins, after exit_has_begun() has become true. At most 8 functions fit,
// and they cannot be removed.
void at_exit(void (*function)()) noexcept;

// Notes that drivers have state in this process. From then on, is_forked_child() returns true in forked children.
void drivers_opened();

// Returns true if this process is a child, by `fork`, of the process that opened the drivers. The drivers' state is not
// usable here.
bool is_forked_child() noexcept;

// Runs `function` in each forked child, before anything else runs there.
void run_in_children(void (*function)());

// Returns a number that is another one in each forked child: of the forks between this process and the first that
// asked.
int generation();

// Makes a mutex usable in children: no other thread holds it while the process forks. A thread must not hold two of
// these mutexes at once, nor hold one while it adds or removes another.
void keep_usable_across_fork(std::mutex& mutex);
void forget_across_fork(std::mutex& mutex) noexcept;

// Keeps a mutex usable across fork as long as this object lives.
class UsableAcrossFork {
 public:
  explicit UsableAcrossFork(std::mutex& mutex) : mutex_(mutex) { keep_usable_across_fork(mutex); }
  ~UsableAcrossFork() { forget_across_fork(mutex_); }
  UsableAcrossFork(const UsableAcrossFork&) = delete;
  UsableAcrossFork& operator=(const UsableAcrossFork&) = delete;

 private:
  std::mutex& mutex_;
};

// Returns true if drivers may be called, because neither of the above is true.
inline bool drivers_usable() noexcept { return !exit_has_begun() && !is_forked_child(); }

}  // namespace arrowdevice::process
