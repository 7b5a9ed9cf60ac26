// SPDX-License-Identifier: Apache-2.0
// The condition variable of the library and of the backends.
#pragma once

#include <pthread.h>

#include <cassert>
#include <condition_variable>
#include <mutex>

namespace arrowdevice {

// Behaves as std::condition_variable, but calls pthread_cond_wait itself. GCC 12 and newer bind the standard wait() to
// GLIBCXX_3.4.30, which the systems of manylinux_2_34 lack. The base class is private, so that nothing calls its
// wait().
class ConditionVariable : private std::condition_variable {
 public:
  using std::condition_variable::notify_all;
  using std::condition_variable::notify_one;
  using std::condition_variable::wait_for;
  using std::condition_variable::wait_until;

  void wait(std::unique_lock<std::mutex>& lock) {
    [[maybe_unused]] const int code = pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
    assert(code == 0);
  }

  template <typename Predicate>
  void wait(std::unique_lock<std::mutex>& lock, Predicate predicate) {
    while (!predicate()) wait(lock);
  }
};

}  // namespace arrowdevice
