// SPDX-License-Identifier: Apache-2.0
// The injector of allocations of host memory that fail.
//
// First the call runs without failures, and its allocations are counted. Then it runs again for each n up to that
// count in these modes:
//
// - The n-th allocation fails.
// - The n-th allocation and all later ones fail.
// - The n-th allocation and all later ones fail, but the backend's allocations succeed. Only the library has no
//   memory.
// - The n-th allocation on any thread fails, alone or with all later ones. These modes are for functions whose work
//   runs on threads of the library.
//
// Only a few allocations with the same call stack are tried. A first process plays the whole operation. A fresh
// process plays each allocation that happens only at first use.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <thread>

#include "faults/choice.h"
#include "faults/injector.h"
#include "faults/scene.h"
#include "faults/trial.h"
#include "support/ending.h"

namespace faults {
namespace {

constexpr unsigned kLongestForkSeconds = 10;
constexpr std::chrono::seconds kPatience{2};

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
constexpr size_t kMostWays = std::size(kWays);
constexpr int kWaysOfOneThread = 3;

int ways(const Operation& operation) { return operation.has_threads ? static_cast<int>(kMostWays) : kWaysOfOneThread; }

// The call stacks of all allocations of a call.
struct Recording {
  int64_t n = 0;
  std::array<uint64_t, 4096> room{};

  std::span<const uint64_t> stacks() const { return std::span(room).first(static_cast<size_t>(n)); }
};

struct Progress {
  Place place;
  bool reached = false;                    // the allocation n
  int64_t counted = 0;                     // allocations of the call on its own thread
  int64_t blocks_kept = 0;                 // blocks of host memory that remain after a first use without failure
  Recording first;                         // at first use, in the mode of `place`
  std::array<Recording, kMostWays> later;  // in each mode
};

// The number of live objects of each kind.
using Alive = std::vector<int64_t>;

Alive alive(const Operation& operation) {
  Alive all = alive_on_devices();
  all.push_back(operation.keeps_blocks ? 0 : memory::live_blocks());
  return all;
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

  // Returns true if one of the counts that have grown each time has fallen since.
  bool has_fallen(const Alive& now) const {
    for (size_t i = 0; i < now.size(); ++i) {
      if (grows_[i] && now[i] < last_[i]) return true;
    }
    return false;
  }

  std::string text() const {
    std::string text;
    for (size_t i = 0; i < last_.size(); ++i) {
      const std::string name = i + 1 == last_.size() ? "blocks of host memory" : name_of_alive(i);
      if (grows_[i]) text += (text.empty() ? "" : ", ") + std::to_string(last_[i] - before_[i]) + " " + name;
    }
    return text;
  }

 private:
  Alive last_;
  std::vector<bool> grows_;
  Alive before_;
};

class Refusal : public Injection {
 public:
  // Records the call stacks of all allocations if `recording` is not NULL.
  Refusal(const Operation& operation, Place place, Recording* recording)
      : operation_(operation), plan_(kWays[place.way].plan), recording_(recording) {
    plan_.first = place.n;
  }

  void prepare() override {}

  int run(const Attempt& attempt, arrowdevice_error& error) override {
    if (recording_ != nullptr) {
      memory::begin_recording(plan_, recording_->room);
    } else {
      memory::begin(plan_);
    }
    const int code = attempt.run(&error);
    figures_ = memory::end();
    if (recording_ == nullptr) return code;
    check(figures_.counted <= std::ssize(recording_->room), "there are more allocations than can be recorded");
    recording_->n = figures_.counted;
    return code;
  }
  bool was_injected() const override { return figures_.failed > 0; }

  void check_survived() override {}
  void check_failure(int code, const arrowdevice_error& error) override {
    const auto& codes = operation_.codes;
    if (std::ranges::find(codes, code) != codes.end()) return;
    check_code(code, ENOMEM, error);
    const bool is_true =
        std::strstr(error.message, "memory") != nullptr || std::strstr(error.message, "errno 12") != nullptr;
    if (!is_true) fail(std::string("the message does not speak of memory: ") + error.message);
  }
  bool may_spoil() const override { return false; }
  void recover() override {}
  void wait_for_threads() override {}

  // A device without memory for an event cannot tell when its work has finished.
  void check_end() override {
    const bool may_give_up = were_devices_opened() && plan_.onwards && !plan_.spares_backend;
    if (has_given_memory_up()) check(may_give_up, "memory was given up on a device that works");
  }

  int64_t counted() const { return figures_.counted; }

 private:
  const Operation& operation_;
  memory::Plan plan_;
  Recording* const recording_;
  memory::Figures figures_{};
};

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

class Allocations : public Injector {
 public:
  Injectors id() const override { return kAllocations; }

  Outcome play(const Operation& operation, const char* plugin) override {
    progress_ = {};
    Outcome outcome;
    outcome.is_well = operation.at_first_use || play_in_one(operation, plugin);
    const int64_t later = progress_.counted;
    outcome.is_well = play_at_first_use(operation, plugin) && outcome.is_well;
    outcome.failures = progress_.counted + later;
    outcome.text = " " + std::to_string(progress_.counted) + " at first, then " + std::to_string(later);
    return outcome;
  }

 private:
  Recording& later() { return progress_.later[static_cast<size_t>(progress_.place.way)]; }

  // Records the allocations of a later call, after the first use.
  void record(const Operation& operation) {
    Refusal refusal(operation, {progress_.place.way, 0}, &later());
    for (int i = 0; i < 2; ++i) play_once(operation, refusal);
    if (progress_.place.way != 0) return;
    progress_.counted = refusal.counted();
    if (operation.allocates == true) check(refusal.counted() > 0, "it allocates nothing, against what its flag says");
    if (operation.allocates == false) check_equal(refusal.counted(), 0, "allocations of what shall make none");
  }

  // Checks for leaks. A count that grows with each repeated call shows a leak. Other objects may remain in
  // small numbers, such as idle queues of a device and messages of the simulation.
  static void check_no_leak(const Operation& operation, Refusal& refusal, const Alive& before) {
    constexpr int kRepeated = 20;
    Growth growth(before);
    for (;;) {
      for (int i = 0; i < kRepeated; ++i) {
        if (i > 0) play_once(operation, refusal);
        if (has_given_memory_up() || !growth.goes_on(alive(operation))) return;
      }
      // Threads of streams that end still hold their objects for a moment. What has leaked stays.
      const auto patience = std::chrono::steady_clock::now() + kPatience;
      while (!growth.has_fallen(alive(operation))) {
        if (std::chrono::steady_clock::now() > patience) fail("leaked each time: " + growth.text());
        std::this_thread::yield();
      }
      growth = Growth(alive(operation));
    }
  }

  // Plays all places after `last` in this process. Ends the process if a check fails.
  void play_all(const Operation& operation, const char* plugin, Place last) {
    set_up(operation.machine, plugin);
    for (progress_.place = last; progress_.place.way < ways(operation);
         progress_.place = {progress_.place.way + 1, 0}) {
      alarm(kLongestSeconds);
      record(operation);
      const Choice choice(later().stacks());
      for (bool reached = true; reached;) {
        progress_.place.n = choice.after(progress_.place.n);
        alarm(kLongestSeconds);
        Refusal refusal(operation, progress_.place, nullptr);
        const Alive before = alive(operation);
        reached = play_once(operation, refusal);
        check_no_leak(operation, refusal, before);
      }
    }
  }

  // Plays the place in `progress_` in this fresh process.
  void play_one(const Operation& operation, const char* plugin) {
    alarm(kLongestSeconds);
    set_up(operation.machine, plugin);
    const bool is_recorded = progress_.place.n == 0;
    const int64_t before = memory::live_blocks();
    Refusal refusal(operation, progress_.place, is_recorded ? &progress_.first : nullptr);
    progress_.reached = play_once(operation, refusal);
    const int64_t counted = refusal.counted();
    Refusal none(operation, {}, nullptr);
    if (!operation.at_first_use) play_once(operation, none);
    use_cpu();  // the checks after a failure also do this, and it leaves objects for the next copy
    must(arrowdevice_pool_trim, default_pool(cpu()));  // it keeps as much as the largest copies need
    // The number of a device's idle queues depends on its timing.
    const int64_t kept = memory::live_blocks() - before;
    if (is_recorded) progress_.blocks_kept = kept;
    if (is_recorded && progress_.place.way == 0) progress_.counted = counted;
    const bool is_exact = !were_devices_opened() && !operation.keeps_blocks;
    if (is_exact) check(kept <= progress_.blocks_kept, "blocks of host memory have leaked");
    check_fork();
  }

  bool play_at_first_use(const Operation& operation, const char* plugin) {
    int failures = 0;
    // Returns true if the place passed, or if another place may be tried.
    const auto play_at = [&](Place place) {
      progress_.place = place;
      progress_.reached = true;  // in case the process ends before it sets this
      if (ends_well([&] { play_one(operation, plugin); })) return true;
      report_place(operation, "at first use");
      progress_.reached = true;
      return ++failures < kMostFailures;
    };
    for (int way = 0; way < ways(operation); ++way) {
      progress_.first.n = 0;
      if (!play_at({way, 0})) return false;
      // Allocations that happen on each call belong to the other process.
      const Choice choice(progress_.first.stacks(), progress_.later[static_cast<size_t>(way)].stacks());
      progress_.reached = true;
      for (int64_t n = 0; progress_.reached;) {
        n = choice.after(n);
        if (!play_at({way, n})) return false;
      }
    }
    return failures == 0;
  }

  bool play_in_one(const Operation& operation, const char* plugin) {
    int failures = 0;
    for (Place last; !ends_well([&] { play_all(operation, plugin, last); }); last = progress_.place) {
      report_place(operation, "in one process");
      if (++failures == kMostFailures) return false;
    }
    return failures == 0;
  }

  void report_place(const Operation& operation, const char* when) const {
    const Place place = progress_.place;
    report(operation, std::string(when) + ", allocation " + std::to_string(place.n) + " " + kWays[place.way].text);
  }

  Progress& progress_ = make_shared_object<Progress>();
};

}  // namespace

std::unique_ptr<Injector> inject_allocations() { return std::make_unique<Allocations>(); }

}  // namespace faults
