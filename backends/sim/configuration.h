// SPDX-License-Identifier: Apache-2.0
// The simulation's settings. The environment sets them (README.md lists the variables), or a test fills this struct.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/functions.h"

namespace arrowdevice::sim {

struct DeviceSettings {
  bool addresses = true;              // buffers are addresses; otherwise handles
  int64_t memory = int64_t{4} << 30;  // bytes
  int64_t latency_us = 0;             // least time from a submission to its start
  int64_t bandwidth = 0;              // bytes per second; 0 for the speed of the machine
};

// Peer access and peer copies between simulated devices.
enum class Peers {
  kNone,    // no peer copies: the library stages through the host
  kCopy,    // peer copies
  kAccess,  // peer copies, and peer access to devices with addresses
};

struct PlannedFailure {
  Function function;
  int64_t call = 1;      // the first call that fails, counted from 1
  bool onwards = false;  // all later calls fail too
  int code = 0;          // errno value; 0 for the function's usual code
};

struct Configuration {
  std::vector<DeviceSettings> devices{DeviceSettings{}};
  Peers peers = Peers::kCopy;
  std::vector<Function> without;  // optional functions that the table lacks
  std::vector<PlannedFailure> failures;
  std::string statistics_file;  // absolute path; empty if no file is written

  // Throws Error(EINVAL) that names the variable and the invalid word.
  static Configuration from_environment();
};

}  // namespace arrowdevice::sim
