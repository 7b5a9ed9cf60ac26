// SPDX-License-Identifier: Apache-2.0
// All that the simulation knows: one of it in a process, there until the process ends.
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
  // What is in flight ends as failed, and all is counted anew. Not while other threads call the table.
  void configure(Configuration configuration);

  bool has(Function function) const;  // whether the table has it

  std::string statistics() const;  // as JSON

  Devices devices;
  Handles<Queue> queues{"queue"};
  Handles<Event> events{"event"};
  Failures failures;
  Refusals refusals;

 private:
  mutable std::mutex mutex_;  // guards the next one
  Configuration configuration_;
};

// Never destroyed, since the engines use it until the process ends.
Simulation& simulation();

}  // namespace arrowdevice::sim
