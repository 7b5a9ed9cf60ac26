// SPDX-License-Identifier: Apache-2.0
#include "support/callback.h"

#include <atomic>

namespace arrowdevice::testing {
namespace {

std::atomic<CallbackCheck> checking{nullptr};

}  // namespace

void set_callback_check(CallbackCheck check) noexcept { checking.store(check); }

void enter_callback(const char* callback) noexcept {
  if (const CallbackCheck check = checking.load()) check(callback);
}

}  // namespace arrowdevice::testing
