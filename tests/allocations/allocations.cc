// SPDX-License-Identifier: Apache-2.0
// Every allocation fails in turn, in every public function: allocations FOLDER PLUGIN [WORD | PART/PARTS]
//
// FOLDER has the C headers. Each function in them must have a scenario. PLUGIN is the absolute path of the
// simulation as a plugin. With a WORD, only scenarios run whose name contains it. With 2/3, every third
// scenario runs, from the second on. The outcomes go to $ARROWDEVICE_TEST_REPORT like those of Catch2
// programs. See trial.h for the conditions that are tested.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "allocations/trial.h"

namespace allocations {
namespace {

Scenarios all_scenarios() {
  Scenarios scenarios;
  for (auto* const add :
       {add_arrays, add_async, add_backends, add_bytes, add_copies, add_devices, add_streams, add_tensors, add_views}) {
    add(scenarios);
  }
  return scenarios;
}

// Reads the functions of all headers, without "arrowdevice_".
std::set<std::string> functions_of(const char* folder) {
  const std::regex declaration(R"(ARROWDEVICE_API\s[^;(]*?\barrowdevice_(\w+)\()");
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) names.insert((*at)[1]);
  }
  return names;
}

class Report {
 public:
  void add(bool is_well, const std::string& name) {
    if (file_ != nullptr) std::fprintf(file_, "%s %s\n", is_well ? "passed" : "failed", name.c_str());
    if (file_ != nullptr) std::fflush(file_);
    if (!is_well) std::fprintf(stderr, "FAILED: %s\n", name.c_str());
    failed_ += !is_well;
  }
  int64_t failed() const { return failed_; }

 private:
  static std::FILE* open() {
    const char* const path = std::getenv("ARROWDEVICE_TEST_REPORT");
    return path != nullptr ? std::fopen(path, "we") : nullptr;
  }

  std::FILE* const file_ = open();
  int64_t failed_ = 0;
};

bool has_all(const std::set<std::string>& functions, const Scenarios& scenarios) {
  auto missing = functions;
  bool is_known = true;
  for (const auto& scenario : scenarios) {
    missing.erase(scenario.function);
    if (functions.contains(scenario.function)) continue;
    std::fprintf(stderr, "no header declares %s\n", scenario.function.c_str());
    is_known = false;
  }
  for (const auto& name : missing) std::fprintf(stderr, "there is no scenario of %s\n", name.c_str());
  return is_known && missing.empty() && functions.size() > 60;
}

// The scenarios that run.
struct Selection {
  std::string word;
  size_t part = 1;
  size_t parts = 1;

  explicit Selection(const char* text) {
    if (std::sscanf(text, "%zu/%zu", &part, &parts) != 2) word = text;
  }
  bool has(size_t place, const std::string& name) const {
    return (place + 1) % parts == part % parts && name.find(word) != std::string::npos;
  }
};

int play_all(const char* folder, const char* plugin, const Selection& selection) {
  const auto scenarios = all_scenarios();
  Report report;
  int64_t all = 0;
  for (size_t i = 0; i < scenarios.size(); ++i) {
    const auto& scenario = scenarios[i];
    if (!selection.has(i, scenario.name())) continue;
    const Outcome outcome = play(scenario, plugin);
    report.add(outcome.is_well, scenario.name());
    std::printf("%s: %lld allocations at first, then %lld\n", scenario.name().c_str(),
                static_cast<long long>(outcome.allocations), static_cast<long long>(outcome.allocations_later));
    std::fflush(stdout);
    all += outcome.allocations + outcome.allocations_later;
  }
  report.add(has_all(functions_of(folder), scenarios), "every function of the headers has a scenario");
  std::printf("%lld allocations failed, in several ways each; %lld failures\n", static_cast<long long>(all),
              static_cast<long long>(report.failed()));
  return report.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace allocations

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: allocations FOLDER PLUGIN [WORD | PART/PARTS]\n");
    return 2;
  }
  return allocations::play_all(argv[1], argv[2], allocations::Selection(argc > 3 ? argv[3] : ""));
}
