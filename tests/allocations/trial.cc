// SPDX-License-Identifier: Apache-2.0
#include "allocations/trial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <thread>

#include "allocations/log.h"
#include "allocations/place.h"
#include "allocations/scene.h"

namespace allocations {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);
constexpr unsigned kLongestForkSeconds = 10;
constexpr unsigned char kUntouched = 0x5C;

arrowdevice_error untouched_error() {
  arrowdevice_error error;
  std::memset(&error, kUntouched, sizeof error);
  return error;
}

void check_untouched(const arrowdevice_error& error) {
  const arrowdevice_error untouched = untouched_error();
  check(std::memcmp(&error, &untouched, sizeof error) == 0, "a call that succeeded has filled the error");
}

int run(const Attempt& attempt, arrowdevice_error& error) {
  try {
    return attempt.run(&error);
  } catch (...) {
    memory::end();
    fail("an exception has left the call");
  }
}

void check_failure(const Scenario& scenario, int code, const arrowdevice_error& error) {
  const bool is_planned = code == ENOMEM || std::ranges::find(scenario.codes, code) != scenario.codes.end();
  if (!is_planned) check_code(code, ENOMEM, error);
  check_equal(error.code, code, "the code in the error");
  check(error.message[0] != '\0', "the error has no message");
  const bool is_true = code != ENOMEM || std::strstr(error.message, "memory") != nullptr ||
                       std::strstr(error.message, "errno 12") != nullptr;
  if (!is_true) fail(std::string("the message does not speak of memory: ") + error.message);
}

// How many of each thing are alive.
using Alive = std::vector<int64_t>;

Alive alive(const Scenario& scenario) {
  Alive all = alive_on_devices();
  all.push_back(scenario.keeps_blocks ? 0 : memory::live_blocks());
  return all;
}

std::string name_of(size_t place) {
  if (place == 4 * kDevices) return "blocks of host memory";
  return std::string(name_of_alive(place)) + " on device " + std::to_string(place / 4);
}

// A thread of the library may hold the last of them a moment longer.
void check_nodes() {
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (live_nodes() != 0 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  check_equal(live_nodes(), 0, "arrays that are not released");
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
}

class Trial {
 public:
  Trial(const Scenario& scenario, const memory::Plan& plan) : scenario_(scenario), plan_(plan) {}

  // Makes the call. False if nothing failed.
  bool once() {
    forget_log();
    figures_ = {};
    {
      Attempt attempt = scenario_.make();
      arrowdevice_error error = untouched_error();
      memory::begin(plan_);
      const int code = run(attempt, error);
      figures_ = memory::end();
      if (code == 0) {
        check_untouched(error);
        attempt.check_done();
      } else {
        if (figures_.failed == 0) check_code(code, 0, error);
        check_failure(scenario_, code, error);
        attempt.check_refused();
        again(std::move(attempt));
      }
    }
    must(arrowdevice_quiesce, int64_t{-1});
    check_nodes();
    if (has_given_memory_up()) check(may_give_up(), "memory was given up on a device that works");
    return figures_.failed > 0;
  }

  // What grows each time that the call is made has leaked. Other things are kept, up to a number, for the next call.
  void check_no_leak(const Alive& before) {
    constexpr int kTimes = 12;
    if (has_given_memory_up() || !has_grown(before)) return;
    Alive first;
    for (int i = 0; i < 2 * kTimes; ++i) {
      if (i == kTimes) first = alive(scenario_);
      once();
      if (has_given_memory_up()) return;
    }
    const Alive last = alive(scenario_);
    for (size_t i = 0; i < last.size(); ++i) {
      if (last[i] - first[i] < kTimes) continue;
      fail("leaked in " + std::to_string(kTimes) + " times: " + std::to_string(last[i] - first[i]) + " " + name_of(i));
    }
  }

  int64_t counted() const { return figures_.counted; }

 private:
  bool has_grown(const Alive& before) const {
    const Alive now = alive(scenario_);
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] > before[i]) return true;
    }
    return false;
  }

  // A device that has no memory for an event cannot say when its work is done.
  bool may_give_up() const { return are_devices_used() && plan_.onwards && !plan_.spares_backend; }

  void again(Attempt attempt) {
    if (scenario_.is_final) {
      attempt = {};
      must(arrowdevice_quiesce, int64_t{-1});
      attempt = scenario_.make();
    }
    arrowdevice_error error = untouched_error();
    const int code = run(attempt, error);
    if (code != 0) check_code(code, 0, error);
    check_untouched(error);
    attempt.check_done();
  }

  const Scenario& scenario_;
  const memory::Plan plan_;
  memory::Figures figures_{};
};

[[noreturn]] void end_by_terminate() {
  memory::end();
  std::string what = "it is no exception";
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
    what = "of unknown type";
  }
  fail("std::terminate was called, with an exception that nothing caught: " + what);
}

void begin(const Scenario& scenario, const char* plugin) {
  std::set_terminate(end_by_terminate);
  set_up(scenario.machine, plugin);
  listen_to_log();
}

// The process can still fork, and the child copy arrays on the CPU.
void check_fork() {
  std::signal(SIGALRM, [](int) { fail("the process cannot fork any more, or the child cannot copy arrays"); });
  alarm(kLongestForkSeconds);
  const pid_t child = fork();
  if (child == 0) {
    const Array host = Rows::flat().host();
    check_same(Rows::flat().difference(*host));
    _exit(0);
  }
  int status = 0;
  check(child > 0 && waitpid(child, &status, 0) == child, "no process can be forked");
  check(status == 0, "a forked child cannot copy arrays on the CPU");
}

// What it allocates when it is not done for the first time.
void count(const Scenario& scenario, Progress& progress) {
  Trial trial(scenario, {});
  for (int i = 0; i < 2; ++i) trial.once();
  progress.counted = trial.counted();
  if (scenario.allocates) check(trial.counted() > 0, "it allocates nothing, against what the scenario says");
  if (!scenario.allocates) check_equal(trial.counted(), 0, "allocations of what shall make none");
}

}  // namespace

void play_all(const Scenario& scenario, const char* plugin, Place start, Progress& progress) {
  begin(scenario, plugin);
  for (progress.place = start; progress.place.way < ways(scenario); progress.place = {progress.place.way + 1, 1}) {
    for (bool reached = true; reached; ++progress.place.n) {
      if (progress.place.n == 0) {
        count(scenario, progress);
        continue;
      }
      Trial trial(scenario, plan_at(progress.place));
      const Alive before = alive(scenario);
      reached = trial.once();
      trial.check_no_leak(before);
    }
  }
}

void play_one(const Scenario& scenario, const char* plugin, Progress& progress) {
  begin(scenario, plugin);
  const int64_t before = memory::live_blocks();
  Trial trial(scenario, plan_at(progress.place));
  progress.reached = trial.once();
  progress.counted = trial.counted();
  constexpr int kMoreTimes = 2;
  for (int i = 0; i < kMoreTimes && !scenario.only_first; ++i) Trial(scenario, {}).once();
  // How many queues a device keeps depends on its pace.
  const int64_t kept = memory::live_blocks() - before;
  if (progress.place.n == 0) progress.blocks_kept = kept;
  const bool is_exact = !are_devices_used() && !scenario.keeps_blocks;
  if (is_exact) check(kept <= progress.blocks_kept, "blocks of host memory have leaked");
  check_fork();
}

}  // namespace allocations
