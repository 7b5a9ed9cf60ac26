// SPDX-License-Identifier: Apache-2.0
// Callbacks that tests give to the library announce each call here, so that a program can check what the calling thread
// holds at that moment.
#pragma once

namespace arrowdevice::testing {

using CallbackCheck = void (*)(const char* callback) noexcept;

// Sets the check of this program. NULL means none, which is the default.
void set_callback_check(CallbackCheck check) noexcept;

// Runs the check. A callback calls this first.
void enter_callback(const char* callback) noexcept;

}  // namespace arrowdevice::testing
