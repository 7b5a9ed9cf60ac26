// SPDX-License-Identifier: Apache-2.0
// The processes in which scenarios are played, and the one that watches them.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <new>

#include "allocations/place.h"
#include "allocations/scene.h"

namespace allocations {
namespace {

// One that takes longer hangs.
constexpr unsigned kLongestSeconds = 60;
// A scenario that fails so often has said what is wrong.
constexpr int kMostFailures = 6;

struct Way {
  const char* text;
  memory::Plan plan;
};

constexpr Way kWays[] = {
    {"fails", {}},
    {"and all after it fail", {.onwards = true}},
    {"and all after it fail, but the backend's", {.onwards = true, .spares_backend = true}},
    {"fails, of any thread", {.on_any_thread = true, .spares_backend = true}},
    {"and all after it fail, of any thread", {.onwards = true, .on_any_thread = true, .spares_backend = true}},
};
constexpr int kWaysOfOneThread = 3;

Progress& shared_progress() {
  static Progress& progress = [&]() -> Progress& {
    void* const page = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) fail("no page can be shared");
    return *new (page) Progress;
  }();
  return progress;
}

bool ends_well(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kLongestSeconds);
    body();
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  return status == 0;
}

void report(const Scenario& scenario, const char* when) {
  const Place place = shared_progress().place;
  std::fprintf(stderr, "  in %s, %s: allocation %lld %s\n", scenario.name().c_str(), when,
               static_cast<long long>(place.n), kWays[place.way].text);
}

bool play_at_first_use(const Scenario& scenario, const char* plugin) {
  auto& progress = shared_progress();
  progress = {};
  int failures = 0;
  for (int way = 0; way < ways(scenario); ++way) {
    progress.reached = true;
    for (int64_t n = way == 0 ? 0 : 1; n <= 1 || progress.reached; ++n) {
      progress.place = {way, n};
      progress.reached = true;
      if (ends_well([&] { play_one(scenario, plugin, progress); })) continue;
      report(scenario, "at first use");
      progress.reached = true;
      if (++failures == kMostFailures) return false;
      if (n > 2000) return false;
    }
  }
  return failures == 0;
}

bool play_in_one(const Scenario& scenario, const char* plugin) {
  auto& progress = shared_progress();
  progress = {};
  int failures = 0;
  for (Place start; !ends_well([&] { play_all(scenario, plugin, start, progress); });) {
    report(scenario, "in one process");
    if (++failures == kMostFailures) return false;
    start = {progress.place.way, progress.place.n + 1};
  }
  return failures == 0;
}

}  // namespace

int ways(const Scenario& scenario) {
  return scenario.has_threads ? static_cast<int>(std::size(kWays)) : kWaysOfOneThread;
}

memory::Plan plan_at(Place place) {
  memory::Plan plan = kWays[place.way].plan;
  plan.first = place.n;
  return plan;
}

Outcome play(const Scenario& scenario, const char* plugin) {
  Rows::prepare();
  Outcome outcome;
  const bool well = play_at_first_use(scenario, plugin);
  outcome.allocations = shared_progress().counted;
  outcome.is_well = well && (scenario.only_first || play_in_one(scenario, plugin));
  if (!scenario.only_first) outcome.allocations_later = shared_progress().counted;
  return outcome;
}

}  // namespace allocations
