// SPDX-License-Identifier: Apache-2.0
// Calls of the library that must succeed. The caller omits the error argument. A program ends if a call fails, because
// its figures would mean nothing.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace arrowdevice::bench {

[[noreturn]] inline void give_up(const char* why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
  std::_Exit(1);  // other threads may still run
}

template <typename Function, typename... Arguments>
void must(Function function, Arguments... arguments) {
  arrowdevice_error error{};
  if (function(arguments..., &error) != 0) give_up(error.message);
}

inline arrowdevice_device* device(const char* name) {
  arrowdevice_device* found = nullptr;
  must(arrowdevice_device_find_by_name, name, &found);
  return found;
}

inline arrowdevice_device* cpu() {
  arrowdevice_device* found = nullptr;
  must(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_CPU}, int64_t{-1}, &found);
  return found;
}

// Returns the default pool of a device.
inline arrowdevice_pool* pool(arrowdevice_device* device) {
  arrowdevice_pool* found = nullptr;
  must(arrowdevice_device_get_pool, device, &found);
  return found;
}

}  // namespace arrowdevice::bench
