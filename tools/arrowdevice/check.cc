// SPDX-License-Identifier: Apache-2.0
// Runs the conformance suite on devices. The cases run in another process, which may crash, hang or fail at exit. The
// current case fails then, and a new process runs the remaining cases.
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <vector>

#include "arguments.h"
#include "case_process.h"
#include "command.h"
#include "conformance/conformance.h"
#include "json.h"
#include "known.h"
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
  KnownCases known;
  std::chrono::seconds patience{kUsualPatience};
};

struct Verdict {
  std::string name;
  Outcome outcome;
  std::string message;
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

std::string json_of(const Verdict& verdict) {
  return json_object({{"case", json_string(verdict.name)},
                      {"outcome", json_string(conformance::outcome_name(verdict.outcome))},
                      {"message", json_string(verdict.message)}});
}

void print_json_of(const std::vector<Subject>& subjects, const std::vector<std::vector<Verdict>>& verdicts) {
  std::vector<std::string> devices;
  for (size_t i = 0; i < subjects.size(); ++i) {
    std::vector<std::string> results;
    for (const Verdict& verdict : verdicts[i]) results.push_back(json_of(verdict));
    devices.push_back(json_object({{"device", json_string(subjects[i].device)},
                                   {"backend", json_string(subjects[i].backend)},
                                   {"missing", json_string_or_null(subjects[i].missing)},
                                   {"results", json_lines(results)}}));
  }
  print_json({{"devices", json_lines(devices)}});
}

Options options_of(const Arguments& arguments) {
  constexpr int64_t kMost = 24 * 60 * 60;
  Options options;
  options.json = arguments.has("--json");
  options.list = arguments.has("--list");
  options.require_device = arguments.has("--require-device");
  options.only = arguments.values("--only");
  options.patience = std::chrono::seconds(arguments.number("--timeout", 1, kMost, kUsualPatience));
  for (const std::string& path : arguments.values("--known")) options.known.read(path);
  for (const std::string& name : arguments.operands()) {
    (name.starts_with('/') ? options.plugins : options.devices).push_back(name);
  }
  return options;
}

int list_cases(const Options& options) {
  const auto all = conformance::cases();
  for (const size_t index : asked_for(options)) std::printf("%s\n", all[index].name);
  return kSuccess;
}

int run(const Arguments& arguments) {
  const Options options = options_of(arguments);
  if (options.list) return list_cases(options);
  asked_for(options);  // reports invalid options before it opens a device
  const std::vector<Subject> subjects = find_subjects(options.devices, options.plugins, options.patience);
  std::vector<std::vector<Verdict>> verdicts;
  std::map<Outcome, size_t> counts;
  size_t missing = 0;
  for (const Subject& subject : subjects) {
    if (!options.json) {
      std::printf("%s\n", styled(printable(subject.device + ", backend " + subject.backend), Style::kHeading).c_str());
    }
    verdicts.emplace_back();
    if (!subject.missing.empty()) {
      ++missing;
      if (!options.json) print_paragraph("is not checked: " + printable(subject.missing), 0);
      continue;
    }
    verdicts.back() = check(subject, options);
    for (const Verdict& verdict : verdicts.back()) ++counts[verdict.outcome];
  }
  size_t good = 0, bad = 0;
  for (const auto& [outcome, count] : counts) (conformance::is_good(outcome) ? good : bad) += count;
  const bool lacks_devices = missing > 0 || subjects.empty();
  if (options.json) {
    print_json_of(subjects, verdicts);
  } else {
    if (lacks_devices) std::printf("%zu devices are not there\n", std::max<size_t>(missing, 1));
    std::printf("%zu passed, %zu failed, %zu unsupported\n", good - counts[Outcome::kUnsupported], bad,
                counts[Outcome::kUnsupported]);
  }
  return bad > 0 || (lacks_devices && options.require_device) ? kFailure : kSuccess;
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
