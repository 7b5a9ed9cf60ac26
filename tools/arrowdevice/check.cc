// SPDX-License-Identifier: Apache-2.0
// Runs the conformance suite on devices. The cases run in another process, which may crash, hang or fail at exit. The
// current case fails then, and a new process runs the remaining cases.
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "arguments.h"
#include "case_process.h"
#include "check_report.h"
#include "command.h"
#include "conformance/conformance.h"
#include "json.h"
#include "known.h"
#include "output_file.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

using conformance::Outcome;

constexpr int64_t kUsualPatience = 120;  // seconds

struct Options {
  bool json = false;
  bool list = false;
  bool require_device = false;
  std::vector<std::string> only;     // parts of case names
  std::vector<std::string> plugins;  // absolute paths
  std::vector<std::string> devices;  // "cuda:1"
  std::string junit;                 // path; empty if there is no such file to write
  KnownCases known;
  std::chrono::seconds patience{kUsualPatience};
};

bool is_asked_for(const std::string& name, const std::vector<std::string>& only) {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

std::vector<size_t> asked_for(const Options& options) {
  std::vector<size_t> found;
  const auto all = conformance::cases();
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_asked_for(all[i].name, options.only)) found.push_back(i);
  }
  if (found.empty()) throw UsageError("check: no case has that in its name; see arrowdevice check --list");
  return found;
}

Style style_of(Outcome outcome) {
  return outcome == Outcome::kPassed ? Style::kGood : conformance::is_good(outcome) ? Style::kPlain : Style::kBad;
}

void print_verdict(const Verdict& verdict) {
  constexpr size_t kIndent = 14;
  const std::string name = conformance::outcome_name(verdict.outcome);
  std::printf("%s%s", styled(name, style_of(verdict.outcome)).c_str(),
              std::string(name.size() < kIndent ? kIndent - name.size() : 1, ' ').c_str());
  std::printf("%s\n", printable(verdict.name).c_str());
  if (!verdict.message.empty()) print_paragraph(printable(verdict.message), kIndent);
  std::fflush(stdout);
}

std::vector<Verdict> check(const Subject& subject, const Options& options) {
  std::vector<Verdict> verdicts;
  const auto all = conformance::cases();
  const auto tell = [&](const std::string& name, Outcome outcome, const std::string& message) {
    auto result = options.known.judge(subject.backend, name, {outcome, message});
    verdicts.push_back({name, result.outcome, std::move(result.message)});
    if (!options.json) print_verdict(verdicts.back());
  };
  std::vector<size_t> left;
  for (const size_t index : asked_for(options)) {
    const std::string* const why_not = options.known.unsupported(subject.backend, all[index].name);
    if (why_not == nullptr) {
      left.push_back(index);
    } else {
      tell(all[index].name, Outcome::kUnsupported, *why_not);
    }
  }
  bool lives_on = true;
  while (!left.empty()) {
    const CasesRun run = run_cases(
        subject.device, options.plugins, left, options.patience,
        [&](size_t index, Outcome outcome, const std::string& message) { tell(all[index].name, outcome, message); });
    if (!run.is_open) {
      tell("the device opens", Outcome::kFailed, run.end);
      return verdicts;
    }
    if (run.ended < left.size()) {
      lives_on = false;
      tell(all[left[run.ended]].name, Outcome::kFailed, run.end);
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(run.ended) + 1);
    } else {
      if (!run.end.empty()) tell("the process ends well after the cases", Outcome::kFailed, run.end);
      left.clear();
    }
  }
  // Uses a new process, because earlier work could change the order in which objects are destroyed. The step is skipped
  // if the backend already fails, ends its process or hangs, because it would add no information.
  if (lives_on && std::ranges::all_of(verdicts, [](const Verdict& one) { return is_good(one.outcome); })) {
    const std::string end = end_with_things_left(subject.device, options.plugins, options.patience);
    if (!end.empty()) tell("what a program has left is released as it exits", Outcome::kFailed, end);
  }
  return verdicts;
}

Options options_of(const Arguments& arguments) {
  constexpr int64_t kMost = 24 * 60 * 60;
  Options options;
  options.json = arguments.has("--json");
  options.list = arguments.has("--list");
  options.require_device = arguments.has("--require-device");
  options.only = arguments.values("--only");
  options.patience = std::chrono::seconds(arguments.number("--timeout", 1, kMost, kUsualPatience));
  for (const std::string& path : arguments.values("--junit")) options.junit = path;
  if (options.list && !options.junit.empty()) throw arguments.error("--list and --junit exclude each other");
  for (const std::string& path : arguments.values("--known")) options.known.read(path);
  for (const std::string& name : arguments.operands()) {
    (name.starts_with('/') ? options.plugins : options.devices).push_back(name);
  }
  return options;
}

int list_cases(const Options& options) {
  std::vector<std::string> names;
  for (const size_t index : asked_for(options)) names.emplace_back(conformance::cases()[index].name);
  if (!options.json) {
    for (const std::string& name : names) std::printf("%s\n", name.c_str());
    return kSuccess;
  }
  for (std::string& name : names) name = json_string(name);
  print_json({{"cases", json_lines(names)}});
  return kSuccess;
}

std::vector<CheckedDevice> check_all(const Options& options) {
  std::vector<CheckedDevice> devices;
  for (const Subject& subject : find_subjects(options.devices, options.plugins, options.patience)) {
    if (!options.json) {
      std::printf("%s\n", styled(printable(subject.device + ", backend " + subject.backend), Style::kHeading).c_str());
      if (!subject.missing.empty()) print_paragraph("is not checked: " + printable(subject.missing), 0);
    }
    devices.push_back({subject, {}});
    if (subject.missing.empty()) devices.back().verdicts = check(subject, options);
  }
  return devices;
}

struct Totals {
  size_t passed = 0, failed = 0, unsupported = 0;
  size_t missing = 0;  // devices
};

Totals totals_of(const std::vector<CheckedDevice>& devices) {
  Totals totals;
  for (const auto& [subject, verdicts] : devices) {
    if (!subject.missing.empty()) ++totals.missing;
    for (const Verdict& verdict : verdicts) {
      if (!conformance::is_good(verdict.outcome)) {
        ++totals.failed;
      } else {
        ++(verdict.outcome == Outcome::kUnsupported ? totals.unsupported : totals.passed);
      }
    }
  }
  if (devices.empty()) totals.missing = 1;
  return totals;
}

int run(const Arguments& arguments) {
  const Options options = options_of(arguments);
  if (options.list) return list_cases(options);
  asked_for(options);  // reports invalid options before it opens a device
  OutputFile junit(options.junit);
  const std::vector<CheckedDevice> devices = check_all(options);
  if (junit) junit.write(junit_of(devices, options.require_device));
  const Totals totals = totals_of(devices);
  if (options.json) {
    print_check_json(devices);
  } else {
    if (totals.missing > 0) std::printf("%zu devices are not there\n", totals.missing);
    std::printf("%zu passed, %zu failed, %zu unsupported\n", totals.passed, totals.failed, totals.unsupported);
  }
  return totals.failed > 0 || (totals.missing > 0 && options.require_device) ? kFailure : kSuccess;
}

constexpr std::array kOptions{
    Option{"--list", "", "prints the names of the cases and runs nothing"},
    Option{"--only", "TEXT", "runs only cases with TEXT in their name; may be repeated"},
    Option{"--require-device", "", "treats a missing device as a failure"},
    Option{"--known", "FILE",
           "reads the known limits of backends from FILE, one line for each case:\n"
           "  BACKEND | unsupported | CASE | REASON\n"
           "  BACKEND | expected to fail | CASE | REASON\n"
           "an expected failure that passes is a failure; may be repeated"},
    Option{"--timeout", "N", "lets a case take N seconds (default: 120)"},
    Option{"--junit", "FILE", "writes the results to FILE as JUnit XML too"},
    kJson,
};

}  // namespace

const Command kCheck{
    .name = "check",
    .summary = "tests if a backend does what every backend must",
    .usage = "[OPTION...] [DEVICE | /PATH/OF/PLUGIN.so]...",
    .about =
        "Runs the conformance suite on the named devices (cuda:1), and on the devices of the plugins at\n"
        "the given absolute paths. Without either, it checks all devices. The cases run in another process:\n"
        "a case that crashes or hangs fails, and the others run. A case that needs an ability that the\n"
        "device lacks is unsupported.\n",
    .options = kOptions,
    .exit_code = "0 nothing failed; 1 something failed, or the library did; 2 wrong usage.",
    .operands = Words::kDevices,
    .most_operands = kAnyNumber,
    .run = run,
};

}  // namespace arrowdevice::tool
