// SPDX-License-Identifier: Apache-2.0
// The processes that play scenarios, and the process that watches them.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <new>

#include "allocations/choice.h"
#include "allocations/place.h"
#include "allocations/scene.h"
#include "support/ending.h"

namespace allocations {
namespace {

// A scenario stops after this number of failures.
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
static_assert(std::size(kWays) == kMostWays);
constexpr int kWaysOfOneThread = 3;

Progress& shared_progress() {
  static Progress* const progress = [] {
    void* const page = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) fail("no page can be shared");
    return new (page) Progress;
  }();
  return *progress;
}

bool ends_well(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    arrowdevice::testing::end_child(0);
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
  int failures = 0;
  // Returns true if the place passed, or if another place may be tried.
  const auto play_at = [&](Place place) {
    progress.place = place;
    progress.reached = true;  // in case the process ends before it sets this
    if (ends_well([&] { play_one(scenario, plugin, progress); })) return true;
    report(scenario, "at first use");
    progress.reached = true;
    return ++failures < kMostFailures;
  };
  for (int way = 0; way < ways(scenario); ++way) {
    progress.first.n = 0;
    if (!play_at({way, 0})) return false;
    // Allocations that happen on each call belong to the other process.
    const Choice choice(progress.first.stacks(), progress.later[static_cast<size_t>(way)].stacks());
    progress.reached = true;
    for (int64_t n = 0; progress.reached;) {
      n = choice.after(n);
      if (!play_at({way, n})) return false;
    }
  }
  return failures == 0;
}

bool play_in_one(const Scenario& scenario, const char* plugin) {
  auto& progress = shared_progress();
  int failures = 0;
  for (Place last; !ends_well([&] { play_all(scenario, plugin, last, progress); }); last = progress.place) {
    report(scenario, "in one process");
    if (++failures == kMostFailures) return false;
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
  auto& progress = shared_progress();
  progress = {};
  outcome.is_well = scenario.only_first || play_in_one(scenario, plugin);
  outcome.allocations_later = progress.counted;
  outcome.is_well = play_at_first_use(scenario, plugin) && outcome.is_well;
  outcome.allocations = progress.counted;
  return outcome;
}

}  // namespace allocations
