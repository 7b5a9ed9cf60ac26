// SPDX-License-Identifier: Apache-2.0
// What can be set: by the environment (README.md lists the variables) or, in a test, by filling this struct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/functions.h"

namespace arrowdevice::sim {

struct DeviceSettings {
  bool addresses = true;              // buffers are addresses, else handles
  int64_t memory = int64_t{4} << 30;  // bytes
  int64_t latency_us = 0;             // from a submission to its start, at least
  int64_t bandwidth = 0;              // bytes a second; 0: as fast as the machine is
};

// What one simulated device can do with the memory of another.
enum class Peers {
  kNone,    // nothing: the library stages through the host
  kCopy,    // direct copies
  kAccess,  // direct copies, and memory of devices with addresses is used where it is
};

struct PlannedFailure {
  Function function;
  int64_t call = 1;      // the first one that fails, counted from 1
  bool onwards = false;  // and all after it
  int code = 0;          // errno; 0: the usual one of the function
};

struct Configuration {
  std::vector<DeviceSettings> devices{DeviceSettings{}};
  Peers peers = Peers::kCopy;
  std::vector<Function> without;  // optional functions that the table lacks
  std::vector<PlannedFailure> failures;
  std::string statistics_file;  // absolute; empty: none is written

  // Throws Error(EINVAL) that names the variable and the word in it.
  static Configuration from_environment();
};

}  // namespace arrowdevice::sim
