// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "sim/control.h"

namespace fuzz {

void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

bool was_accepted(int code, const arrowdevice_error& error) {
  if (code == 0) return true;
  if (code != EINVAL && code != ENOTSUP) fail("refused with code " + std::to_string(code) + ": " + error.message);
  if (error.code != code || error.message[0] == '\0') fail("refused without a reason");
  return false;
}

arrowdevice_device* cpu() {
  arrowdevice_device* found = nullptr;
  must(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_CPU}, int64_t{-1}, &found);
  return found;
}

arrowdevice_device* simulated(int64_t id) {
  namespace control = arrowdevice::sim::control;
  static const bool is_registered = [] {
    arrowdevice::sim::Configuration configuration;
    configuration.devices = {{.addresses = true}, {.addresses = false}};
    control::reset(configuration);
    must(arrowdevice_backend_register, control::table());
    return true;
  }();
  (void)is_registered;
  arrowdevice_device* found = nullptr;
  must(arrowdevice_device_find_by_id, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, id, &found);
  return found;
}

}  // namespace fuzz
