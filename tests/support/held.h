// SPDX-License-Identifier: Apache-2.0
// Holds the work of a simulated device. The program links the simulation.
#pragma once

#include <cstdint>

#include "sim/control.h"

namespace arrowdevice::testing {

// Stops the device's engine until resume() is called or this object is destroyed.
class Held {
 public:
  explicit Held(int64_t id) : id_(id) { sim::control::hold(id); }
  ~Held() { resume(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void resume() { sim::control::resume(id_); }

 private:
  int64_t id_;
};

}  // namespace arrowdevice::testing
