// SPDX-License-Identifier: Apache-2.0
// Counts the locks that the calling thread holds in this program. The linker redirects the calls that lock
// and unlock, so that the count includes the library, which is linked statically.
//
// The rule is that the library holds no lock while it calls foreign code. Each callback of a test calls
// enter_callback(), which ends the program if the count is not 0.
#pragma once

#include <mutex>

namespace library_test {

int held_locks() noexcept;

// A lock of a producer or an application. The count leaves it out.
class ForeignLock {
 public:
  void lock();
  void unlock();

 private:
  std::recursive_mutex mutex_;
};

}  // namespace library_test
