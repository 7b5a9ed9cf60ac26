// SPDX-License-Identifier: Apache-2.0
#include "conformance/conformance.h"

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

std::string lacking(uint32_t needs) {
  if ((needs & kNeedsEvents) != 0) return "the device publishes no events";
  if ((needs & kNeedsPeer) != 0) return "there is no second device of this type";
  if ((needs & kNeedsBacklog) != 0)
    return "there is no second device of this type and no gate for a queue, or copies block";
  if ((needs & kNeedsDiscrete) != 0) return "the CPU uses the memory in place";
  if ((needs & kNeedsShareable) != 0) return "the device has no memory that other processes can open";
  if ((needs & kNeedsBounds) != 0) return "the backend does not know how large a buffer is";
  return "copies to and from the host are staged";
}

// Returns "" if the case passed, else the failure.
std::string attempt(const Case& one, Subject& subject) {
  try {
    wait_idle();
    const int64_t used = subject.stats().used_bytes;
    const int64_t mistakes = Ledger::mistakes();
    one.run(subject);
    wait_idle();
    const int64_t left = subject.stats().used_bytes - used;
    expect(left == 0, std::to_string(left) + " bytes of the device's memory were not given back");
    expect(Ledger::mistakes() == mistakes, "an array was released twice");
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::span<const Case> cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> made;
    for (const auto& part :
         {device_cases(), buffer_cases(), queue_cases(), order_cases(), pool_cases(), copy_cases(), padding_cases(),
          slice_cases(), share_cases(), handle_cases(), children_cases(), event_cases(), export_cases(), view_cases(),
          failure_cases(), cost_cases(), peer_cases(), thread_cases()}) {
      made.insert(made.end(), part.begin(), part.end());
    }
    return made;
  }();
  return all;
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed: return "passed";
    case Outcome::kFailed: return "failed";
    case Outcome::kUnsupported: return "unsupported";
    case Outcome::kFailedAsExpected: return "failed as expected";
    case Outcome::kPassedUnexpectedly: return "passed unexpectedly";
  }
  return "";
}

bool is_good(Outcome outcome) { return outcome != Outcome::kFailed && outcome != Outcome::kPassedUnexpectedly; }

Result run(const Case& one, arrowdevice_device* device) {
  try {
    Subject subject(device);
    const uint32_t missing = one.needs & ~subject.abilities();
    if (missing != 0) return {Outcome::kUnsupported, lacking(missing)};
    std::string message = attempt(one, subject);
    return {message.empty() ? Outcome::kPassed : Outcome::kFailed, std::move(message)};
  } catch (const std::exception& error) {
    return {Outcome::kFailed, error.what()};
  }
}

}  // namespace arrowdevice::conformance
