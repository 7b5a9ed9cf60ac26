// SPDX-License-Identifier: Apache-2.0
// The results of the conformance suite, and the forms in which other programs read them.
#pragma once

#include <string>
#include <vector>

#include "case_process.h"
#include "conformance/conformance.h"

namespace arrowdevice::tool {

struct Verdict {
  std::string name;
  conformance::Outcome outcome;
  std::string message;
};

// A device, or the reason why it is missing, and the results of its cases.
struct CheckedDevice {
  Subject subject;
  std::vector<Verdict> verdicts;
};

void print_check_json(const std::vector<CheckedDevice>& devices);

// Returns the results as JUnit XML. A missing device is a failure if it is required, else it is skipped.
std::string junit_of(const std::vector<CheckedDevice>& devices, bool requires_devices);

}  // namespace arrowdevice::tool
