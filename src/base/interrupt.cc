// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::interrupt {
namespace {

struct Check {
  int (*function)(void* user) = nullptr;
  void* user = nullptr;
};

thread_local Check of_this_thread;

}  // namespace

void set_check(int (*check)(void* user), void* user) noexcept { of_this_thread = {check, user}; }

bool is_set() noexcept { return of_this_thread.function != nullptr; }

void check() {
  const Check check = of_this_thread;
  if (check.function != nullptr && check.function(check.user) != 0) throw Error(ECANCELED, "the call was interrupted");
}

}  // namespace arrowdevice::interrupt
