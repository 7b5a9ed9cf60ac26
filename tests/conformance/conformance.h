// SPDX-License-Identifier: Apache-2.0
// What every backend must do, as cases that run against one device and talk to it through the C API only. Free of any
// test framework: the tests of this house run them, and the tool runs them on a machine as it is.
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

// What a case needs of the device, so that it says something about it.
inline constexpr uint32_t kNeedsNothing = 0;
inline constexpr uint32_t kNeedsEvents = 1;    // it publishes events
inline constexpr uint32_t kNeedsPeer = 2;      // there is another device of its type
inline constexpr uint32_t kNeedsDiscrete = 4;  // the CPU does not read its memory in place
inline constexpr uint32_t kNeedsDirect = 8;    // copies to and from the host are not staged
inline constexpr uint32_t kNeedsBounds = 16;   // its backend knows how large a buffer is

struct Case {
  const char* name;  // a sentence about behaviour
  uint32_t needs;
  void (*run)(Subject&);
};

// All of them, in the order in which a backend's author should make them pass.
std::span<const Case> cases();

enum class Outcome {
  kPassed,
  kFailed,
  kUnsupported,         // the device does not have what the case needs
  kFailedAsExpected,    // for those who keep a list of what is known to fail: it does
  kPassedUnexpectedly,  // likewise: it does not, and is to be taken off that list
};

const char* outcome_name(Outcome outcome);
// Whether an outcome leaves nothing to be done.
bool is_good(Outcome outcome);

struct Result {
  Outcome outcome;
  std::string message;  // what failed and where, or why it is not supported; empty when passed
};

// Runs one case. What it took of the device has been given back when it passes.
Result run(const Case& one, arrowdevice_device* device);

}  // namespace arrowdevice::conformance
