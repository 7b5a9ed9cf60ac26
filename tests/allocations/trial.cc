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

#include "allocations/choice.h"
#include "allocations/log.h"
#include "allocations/place.h"
#include "allocations/scene.h"
#include "support/ending.h"

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

// The number of live objects of each kind.
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

// Checks that no node is alive. It waits, because a thread of the library may hold the last of them a
// moment longer.
void check_nodes() {
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  while (live_nodes() != 0 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  check_equal(live_nodes(), 0, "arrays that are not released");
  check_equal(Ledger::mistakes(), 0, "arrays that were released twice");
}

// Tracks which counts have grown at each sample.
class Growth {
 public:
  explicit Growth(Alive before) : last_(before), grows_(before.size(), true), before_(std::move(before)) {}

  bool goes_on(const Alive& now) {
    for (size_t i = 0; i < now.size(); ++i) grows_[i] = grows_[i] && now[i] > last_[i];
    last_ = now;
    return std::ranges::any_of(grows_, std::identity());
  }

  std::string text() const {
    std::string text;
    for (size_t i = 0; i < last_.size(); ++i) {
      if (grows_[i]) text += (text.empty() ? "" : ", ") + std::to_string(last_[i] - before_[i]) + " " + name_of(i);
    }
    return text;
  }

 private:
  Alive last_;
  std::vector<bool> grows_;
  const Alive before_;
};

class Trial {
 public:
  Trial(const Scenario& scenario, const memory::Plan& plan) : scenario_(scenario), plan_(plan) {}

  // Records all allocations of a call without failures.
  Trial(const Scenario& scenario, const memory::Plan& plan, Recording& recording) : Trial(scenario, plan) {
    recording_ = &recording;
  }

  // Makes the call. Returns false if no allocation failed.
  bool once() {
    forget_log();
    figures_ = {};
    {
      Attempt attempt = scenario_.make();
      arrowdevice_error error = untouched_error();
      if (recording_ == nullptr) {
        memory::begin(plan_);
      } else {
        memory::begin_recording(plan_, recording_->room);
      }
      const int code = run(attempt, error);
      figures_ = memory::end();
      if (recording_ != nullptr) note_recorded();
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
    must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
    check_nodes();
    if (has_given_memory_up()) check(may_give_up(), "memory was given up on a device that works");
    return figures_.failed > 0;
  }

  // Checks for leaks. A count that grows with each repeated call shows a leak. Other objects may remain in
  // small numbers, such as idle queues of a device and messages of the simulation.
  void check_no_leak(const Alive& before) {
    constexpr int kScaled = 20;
    Growth growth(before);
    for (int i = 0; i < kScaled; ++i) {
      if (i > 0) once();
      if (has_given_memory_up() || !growth.goes_on(alive(scenario_))) return;
    }
    fail("leaked each time: " + growth.text());
  }

  int64_t counted() const { return figures_.counted; }

 private:
  void note_recorded() {
    check(figures_.counted <= std::ssize(recording_->room), "there are more allocations than can be recorded");
    recording_->n = figures_.counted;
  }

  // Returns true if the library may give up memory. A device without memory for an event cannot tell when
  // its work has finished.
  bool may_give_up() const { return were_devices_opened() && plan_.onwards && !plan_.spares_backend; }

  void again(Attempt attempt) {
    if (scenario_.is_final) {
      attempt = {};
      must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
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
  Recording* recording_ = nullptr;
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

void use_cpu() {
  const Array host = Rows::nested().host();
  check_same(Rows::nested().difference(*host));
}

// Checks that the process can still fork and that the child can copy arrays on the CPU.
void check_fork() {
  std::signal(SIGALRM, [](int) { fail("the process cannot fork any more, or the child cannot copy arrays"); });
  alarm(kLongestForkSeconds);
  const pid_t child = fork();
  if (child == 0) {
    use_cpu();
    arrowdevice::testing::end_child(0);
  }
  int status = 0;
  check(child > 0 && waitpid(child, &status, 0) == child, "no process can be forked");
  check(status == 0, "a forked child cannot copy arrays on the CPU");
}

// Records the allocations of a later call, after the first use.
void record(const Scenario& scenario, Progress& progress) {
  auto& recording = progress.later[static_cast<size_t>(progress.place.way)];
  Trial trial(scenario, plan_at({progress.place.way, 0}), recording);
  for (int i = 0; i < 2; ++i) trial.once();
  if (progress.place.way != 0) return;
  progress.counted = trial.counted();
  if (scenario.allocates == true) check(trial.counted() > 0, "it allocates nothing, against what the scenario says");
  if (scenario.allocates == false) check_equal(trial.counted(), 0, "allocations of what shall make none");
}

}  // namespace

Scenario calling(const char* function, std::string variant, bool allocates, Call call, Machine machine,
                 std::function<void()> done) {
  return {.function = function,
          .variant = std::move(variant),
          .make =
              [call, done] {
                Attempt attempt;
                attempt.run = call;
                attempt.check_done = done;
                return attempt;
              },
          .machine = machine,
          .allocates = allocates};
}

void play_all(const Scenario& scenario, const char* plugin, Place last, Progress& progress) {
  begin(scenario, plugin);
  for (progress.place = last; progress.place.way < ways(scenario); progress.place = {progress.place.way + 1, 0}) {
    alarm(kLongestSeconds);
    record(scenario, progress);
    const Choice choice(progress.later[static_cast<size_t>(progress.place.way)].stacks());
    for (bool reached = true; reached;) {
      progress.place.n = choice.after(progress.place.n);
      alarm(kLongestSeconds);
      Trial trial(scenario, plan_at(progress.place));
      const Alive before = alive(scenario);
      reached = trial.once();
      trial.check_no_leak(before);
    }
  }
}

void play_one(const Scenario& scenario, const char* plugin, Progress& progress) {
  alarm(kLongestSeconds);
  begin(scenario, plugin);
  const bool is_recorded = progress.place.n == 0;
  const int64_t before = memory::live_blocks();
  const memory::Plan plan = plan_at(progress.place);
  Trial trial = is_recorded ? Trial(scenario, plan, progress.first) : Trial(scenario, plan);
  progress.reached = trial.once();
  if (!scenario.only_first) Trial(scenario, {}).once();
  use_cpu();  // the checks after a failure also do this, and it leaves objects for the next copy
  // The number of a device's idle queues depends on its timing.
  const int64_t kept = memory::live_blocks() - before;
  if (is_recorded) progress.blocks_kept = kept;
  if (is_recorded && progress.place.way == 0) progress.counted = trial.counted();
  const bool is_exact = !were_devices_opened() && !scenario.keeps_blocks;
  if (is_exact) check(kept <= progress.blocks_kept, "blocks of host memory have leaked");
  check_fork();
}

}  // namespace allocations
