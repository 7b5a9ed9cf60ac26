// SPDX-License-Identifier: Apache-2.0
// All state of the simulation. There is one per process, and it lives until the process ends.
#pragma once

#include <mutex>
#include <string>

#include "sim/configuration.h"
#include "sim/devices.h"
#include "sim/event.h"
#include "sim/failures.h"
#include "sim/handle.h"
#include "sim/queue.h"
#include "sim/refusals.h"

namespace arrowdevice::sim {

class Simulation {
 public:
  // Fails all work in flight and resets the counters. No other thread may call the table at the same time.
  void configure(Configuration configuration);

  bool has(Function function) const;  // returns true if the table has the function

  std::string statistics() const;  // as JSON

  Devices devices;
  Handles<Queue> queues{"queue"};
  Handles<Event> events{"event"};
  Failures failures;
  Refusals refusals;

 private:
  mutable std::mutex mutex_;  // guards the next member
  Configuration configuration_;
};

// Never destroyed, because the engines use it until the process ends.
Simulation& simulation();

}  // namespace arrowdevice::sim
