// SPDX-License-Identifier: Apache-2.0
// Ends the child processes of a test.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace arrowdevice::testing {

// Ends the process as _exit does, so that the parent's exit handlers do not run. A build that counts lines
// calls exit instead, because a shared library's destructors write its counters.
[[noreturn]] inline void end_child(int code) {
#ifdef ARROWDEVICE_TESTS_COUNT_LINES
  std::exit(code);
#else
  ::_exit(code);
#endif
}

}  // namespace arrowdevice::testing
