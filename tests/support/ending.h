// SPDX-License-Identifier: Apache-2.0
// How the child processes of a test end.
#pragma once

#include <unistd.h>

#include <cstdlib>

namespace arrowdevice::testing {

// Ends the process as _exit does, without what its parent has left to be done at the end. In a build that counts lines
// it ends as others do: the counters of a shared library are written by its own destructors.
[[noreturn]] inline void end_child(int code) {
#ifdef ARROWDEVICE_TESTS_COUNT_LINES
  std::exit(code);
#else
  ::_exit(code);
#endif
}

}  // namespace arrowdevice::testing
