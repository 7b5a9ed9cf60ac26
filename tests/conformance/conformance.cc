// SPDX-License-Identifier: Apache-2.0
#include "conformance/conformance.h"

#include <string_view>
#include <vector>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

const Exemption* find(std::span<const Exemption> list, const Case& one, const arrowdevice_device_info& info) {
  for (const Exemption& exemption : list) {
    if (std::string_view(info.backend) == exemption.backend && std::string_view(one.name) == exemption.case_name) {
      return &exemption;
    }
  }
  return nullptr;
}

std::string lacking(uint32_t needs) {
  if ((needs & kNeedsEvents) != 0) return "the device publishes no events";
  if ((needs & kNeedsPeer) != 0) return "there is no second device of this type";
  if ((needs & kNeedsDiscrete) != 0) return "the CPU uses the memory in place";
  return "copies to and from the host are staged";
}

// "" if it passed.
std::string attempt(const Case& one, Subject& subject) {
  try {
    quiesce();
    const int64_t used = subject.stats().used;
    const int64_t mistakes = Ledger::mistakes();
    one.run(subject);
    quiesce();
    const int64_t left = subject.stats().used - used;
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
    for (const auto& part : {device_cases(), buffer_cases(), queue_cases(), pool_cases(), copy_cases(), slice_cases(),
                             share_cases(), children_cases(), event_cases(), export_cases(), view_cases(),
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
    if (const Exemption* exemption = find(unsupported(), one, subject.info())) {
      return {Outcome::kUnsupported, exemption->reason};
    }
    const Exemption* known = find(expected_to_fail(), one, subject.info());
    std::string message = attempt(one, subject);
    if (known == nullptr) return {message.empty() ? Outcome::kPassed : Outcome::kFailed, std::move(message)};
    if (message.empty()) return {Outcome::kPassedUnexpectedly, known->reason};
    return {Outcome::kFailedAsExpected, std::string(known->reason) + ": " + message};
  } catch (const std::exception& error) {
    return {Outcome::kFailed, error.what()};
  }
}

// Neither list has entries: every backend of this house does all that its devices can.
std::span<const Exemption> unsupported() { return {}; }
std::span<const Exemption> expected_to_fail() { return {}; }

}  // namespace arrowdevice::conformance
