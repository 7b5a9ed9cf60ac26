// SPDX-License-Identifier: Apache-2.0
// What must hold whatever the input. A fuzzer stops at the first input for which it does not.
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

// A call that must succeed, given without its error.
template <typename... Parameters, typename... Arguments>
void must(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  if (function(arguments..., &error) != 0) fail(std::string("a call that must succeed: ") + error.message);
}

// A call that may refuse its input, with EINVAL or ENOTSUP and a reason. Whether it succeeded.
bool was_accepted(int code, const arrowdevice_error& error);

template <typename... Parameters, typename... Arguments>
bool accepts(int (*function)(Parameters...), Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  return was_accepted(code, error);
}

arrowdevice_device* cpu();

// One of the simulated devices: 0 has addresses, 1 handles. They are registered at the first call.
arrowdevice_device* simulated(int64_t id);

}  // namespace fuzz
