// SPDX-License-Identifier: Apache-2.0
// Conditions that must hold for every input. A fuzzer stops at the first input that breaks a condition.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

#include "support/owned.h"

namespace fuzz {

using namespace arrowdevice::testing;  // NOLINT: what every line of these programs is written with

using Array = Owned<ArrowDeviceArray>;
using Schema = Owned<ArrowSchema>;

[[noreturn]] void fail(const std::string& what);

inline void check(bool holds, const char* what) {
  if (!holds) fail(what);
}

// Makes a call that must succeed. The caller omits the error argument.
template <typename... Parameters, typename... Arguments>
void must(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  if (function(arguments..., &error) != 0) fail(std::string("a call that must succeed: ") + error.message);
}

// Returns true if the call succeeded. It may also refuse its input with EINVAL or ENOTSUP and a message.
bool was_accepted(int code, const arrowdevice_error& error);

template <typename... Parameters, typename... Arguments>
bool accepts(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  return was_accepted(code, error);
}

arrowdevice_device* cpu();

// Returns a simulated device: 0 has addresses, 1 has handles. The first call registers them.
arrowdevice_device* simulated(int64_t id);

}  // namespace fuzz
