// SPDX-License-Identifier: Apache-2.0
// Declares the cases that every backend must pass. Each case runs against one device and uses only the C API.
// The cases need no test framework. The project's tests run them, and the tool runs them on any machine.
//
//   for (const conformance::Case& one : conformance::cases()) {
//     const conformance::Result result = conformance::run(one, device);
//     std::printf("%s: %s %s\n", conformance::outcome_name(result.outcome), one.name, result.message.c_str());
//   }
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cstdint>
#include <span>
#include <string>

namespace arrowdevice::conformance {

class Subject;

// The abilities that a case needs of the device.
inline constexpr uint32_t kNeedsNothing = 0;
inline constexpr uint32_t kNeedsEvents = 1;    // the device publishes events
inline constexpr uint32_t kNeedsPeer = 2;      // there is another device of the same type
inline constexpr uint32_t kNeedsDiscrete = 4;  // the CPU cannot read the device's memory in place
inline constexpr uint32_t kNeedsDirect = 8;    // copies to and from the host are not staged
inline constexpr uint32_t kNeedsBounds = 16;   // the backend knows the size of a buffer
// There is another device of the same type, or the driver has a gate for a queue.
inline constexpr uint32_t kNeedsBacklog = 32;
inline constexpr uint32_t kNeedsShareable = 64;  // the device has memory that other processes can open

struct Case {
  const char* name;  // a sentence about behaviour
  uint32_t needs;
  void (*run)(Subject&);
};

// Returns all cases, in the order in which the author of a backend should make them pass.
std::span<const Case> cases();

enum class Outcome {
  kPassed,
  kFailed,
  kUnsupported,         // the device lacks an ability that the case needs
  kFailedAsExpected,    // the case failed, and a list of known failures names it
  kPassedUnexpectedly,  // the case passed, and the list of known failures still names it
};

const char* outcome_name(Outcome outcome);
// Returns true if the outcome needs no action.
bool is_good(Outcome outcome);

struct Result {
  Outcome outcome;
  std::string message;  // the failure and its line, or the reason why the case is unsupported; empty if the case passed
};

// Runs a case. If the case passes, it has released all resources that it took from the device.
Result run(const Case& one, arrowdevice_device* device);

}  // namespace arrowdevice::conformance
