// SPDX-License-Identifier: Apache-2.0
// Callbacks that tests give to the library announce each call here. A program can then check which locks the
// calling thread holds.
#pragma once

namespace arrowdevice::testing {

using CallbackCheck = void (*)(const char* callback) noexcept;

// Sets the check of this program. NULL means no check, which is the default.
void set_callback_check(CallbackCheck check) noexcept;

// Runs the check. A callback calls this first.
void enter_callback(const char* callback) noexcept;

}  // namespace arrowdevice::testing
