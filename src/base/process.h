// SPDX-License-Identifier: Apache-2.0
// The life of the process: whether `exit` has begun, and whether this is a child of the one that opened the drivers.
#pragma once

#include <mutex>

namespace arrowdevice::process {

// Must be called after everything that may register exit handlers of a driver: handlers run in reverse order, so ours
// then runs before the driver's.
void watch_exit() noexcept;

// No driver may be called any more; releases free host memory only.
bool exit_has_begun() noexcept;

// A function to call when `exit` begins, once exit_has_begun() is true for all to see. At most 8, for ever.
void at_exit(void (*function)()) noexcept;

// Notes that drivers have state in this process; from then on, forked children answer true to is_forked_child().
void drivers_opened();

// Whether this process is a child, by `fork`, of the one in which drivers were opened: their state is not usable here.
bool is_forked_child() noexcept;

// Makes a mutex usable in children: no other thread holds it while the process forks. Mutexes given here must not be
// held at the same time as one another, nor while one is given or forgotten.
void keep_usable_across_fork(std::mutex& mutex);
void forget_across_fork(std::mutex& mutex) noexcept;

// Makes it so as long as this lives.
class UsableAcrossFork {
 public:
  explicit UsableAcrossFork(std::mutex& mutex) : mutex_(mutex) { keep_usable_across_fork(mutex); }
  ~UsableAcrossFork() { forget_across_fork(mutex_); }
  UsableAcrossFork(const UsableAcrossFork&) = delete;
  UsableAcrossFork& operator=(const UsableAcrossFork&) = delete;

 private:
  std::mutex& mutex_;
};

// Neither of the above: drivers may be called.
inline bool drivers_usable() noexcept { return !exit_has_begun() && !is_forked_child(); }

}  // namespace arrowdevice::process
