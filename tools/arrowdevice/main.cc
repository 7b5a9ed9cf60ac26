// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "case_process.h"
#include "command.h"
#include "complete.h"
#include "help.h"
#include "suggestion.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

constexpr std::array<const Command*, 7> kCommands{&kList, &kExplain, &kCheck, &kBench, &kCopy, &kServe, &kFetch};

// The tool starts itself, and shells start it, with these words.
struct Step {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};
constexpr std::array kSteps{Step{kFindSubjects, find_subjects_here}, Step{kRunCases, run_cases_here},
                            Step{kLeaveThings, leave_things_here}, Step{kComplete, complete_here}};

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

const Command& find_command(const std::string& name) {
  std::vector<std::string> names{"--version", "--help"};
  for (const Command* command : kCommands) {
    if (name == command->name) return *command;
    names.emplace_back(command->name);
  }
  const char* const kind = name.starts_with('-') ? "option" : "command";
  throw UsageError("there is no " + std::string(kind) + " \"" + name + "\"" + suggestion(name, names));
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) {
    print_usage(stderr);
    return kUsage;
  }
  const std::string& first = words.front();
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (is_help(first)) {
    print_usage(stdout);
    return kSuccess;
  }
  if (first == "--version") {
    if (!rest.empty()) throw UsageError("--version stands alone");
    std::printf("arrowdevice %s\n", arrowdevice_version());
    return kSuccess;
  }
  for (const Step& step : kSteps) {
    if (first == step.name) return step.run(rest);
  }
  const Command& command = find_command(first);
  if (std::ranges::any_of(rest, is_help)) {
    print_help(command);
    return kSuccess;
  }
  return command.run(Arguments(command, rest));
}

int guarded_run(const std::vector<std::string>& words) {
  try {
    const int code = run(words);
    // A full disk or a closed pipe must not look like success.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::perror("arrowdevice: standard output");
      return kFailure;
    }
    return code;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "arrowdevice: %s\nTry: arrowdevice --help\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "arrowdevice: %s\n", printable(error.what()).c_str());
    return kFailure;
  }
}

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

}  // namespace arrowdevice::tool

int main(int argc, char** argv) {
  return arrowdevice::tool::guarded_run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
