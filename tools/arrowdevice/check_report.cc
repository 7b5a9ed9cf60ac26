// SPDX-License-Identifier: Apache-2.0
#include "check_report.h"

#include <arrowdevice/arrowdevice.h>

#include <cstddef>
#include <ostream>
#include <sstream>

#include "json.h"
#include "xml.h"

namespace arrowdevice::tool {
namespace {

using conformance::Outcome;

std::string json_of(const Verdict& verdict) {
  return json_object({{"case", json_string(verdict.name)},
                      {"outcome", json_string(conformance::outcome_name(verdict.outcome))},
                      {"message", json_string(verdict.message)}});
}

enum class Kind { kPassed, kFailed, kSkipped };

struct JunitCase {
  std::string name;
  Kind kind;
  std::string message;
};

Kind kind_of(Outcome outcome) {
  if (!conformance::is_good(outcome)) return Kind::kFailed;
  return outcome == Outcome::kPassed ? Kind::kPassed : Kind::kSkipped;
}

std::vector<JunitCase> junit_cases(const CheckedDevice& device, bool requires_devices) {
  if (!device.subject.missing.empty()) {
    return {{"the device is there", requires_devices ? Kind::kFailed : Kind::kSkipped, device.subject.missing}};
  }
  std::vector<JunitCase> cases;
  for (const Verdict& verdict : device.verdicts) {
    const std::string outcome = conformance::outcome_name(verdict.outcome);
    const bool is_plain = verdict.outcome == Outcome::kFailed || verdict.outcome == Outcome::kPassed;
    cases.push_back(
        {verdict.name, kind_of(verdict.outcome), is_plain ? verdict.message : outcome + ": " + verdict.message});
  }
  return cases;
}

std::string xml_counts(const std::vector<JunitCase>& cases) {
  size_t failed = 0, skipped = 0;
  for (const JunitCase& one : cases) {
    failed += one.kind == Kind::kFailed ? 1 : 0;
    skipped += one.kind == Kind::kSkipped ? 1 : 0;
  }
  return "tests=\"" + std::to_string(cases.size()) + "\" failures=\"" + std::to_string(failed) +
         "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\"";
}

void write_suite(std::ostream& to, const Subject& subject, const std::vector<JunitCase>& cases) {
  const std::string device = xml_string(subject.device);
  to << "  <testsuite name=" << device << " " << xml_counts(cases) << ">\n"
     << "    <properties>\n"
     << "      <property name=\"backend\" value=" << xml_string(subject.backend) << "/>\n"
     << "      <property name=\"version\" value=" << xml_string(arrowdevice_version()) << "/>\n"
     << "    </properties>\n";
  for (const JunitCase& one : cases) {
    to << "    <testcase classname=" << device << " name=" << xml_string(one.name);
    if (one.kind == Kind::kPassed) {
      to << "/>\n";
      continue;
    }
    const char* const element = one.kind == Kind::kFailed ? "failure" : "skipped";
    to << "><" << element << " message=" << xml_string(one.message) << "/></testcase>\n";
  }
  to << "  </testsuite>\n";
}

}  // namespace

void print_check_json(const std::vector<CheckedDevice>& devices) {
  std::vector<std::string> elements;
  for (const auto& [subject, verdicts] : devices) {
    std::vector<std::string> results;
    for (const Verdict& verdict : verdicts) results.push_back(json_of(verdict));
    elements.push_back(json_object({{"device", json_string(subject.device)},
                                    {"backend", json_string(subject.backend)},
                                    {"missing", json_string_or_null(subject.missing)},
                                    {"results", json_lines(results)}}));
  }
  print_json({{"devices", json_lines(elements)}});
}

std::string junit_of(const std::vector<CheckedDevice>& devices, bool requires_devices) {
  std::vector<JunitCase> all;
  for (const CheckedDevice& device : devices) {
    const auto cases = junit_cases(device, requires_devices);
    all.insert(all.end(), cases.begin(), cases.end());
  }
  std::ostringstream to;
  to << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"arrowdevice check\" " << xml_counts(all)
     << ">\n";
  for (const CheckedDevice& device : devices) {
    write_suite(to, device.subject, junit_cases(device, requires_devices));
  }
  to << "</testsuites>\n";
  return to.str();
}

}  // namespace arrowdevice::tool
