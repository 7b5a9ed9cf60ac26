// SPDX-License-Identifier: Apache-2.0
// The injectors of failed backend calls and of lost devices.
//
// The call that fails is one of the backend's table. Two more failures are injected like calls: an event fails on the
// device ("event"), and a device is lost at a submission ("lost"). The other injector loses each device that takes
// part at the first call of the table, at the second, and so on.
#include <unistd.h>

#include <array>
#include <cstring>

#include "faults/device_failures.h"
#include "faults/driver.h"
#include "faults/injector.h"
#include "faults/scene.h"

namespace faults {
namespace {

using arrowdevice::sim::Function;
using arrowdevice::sim::kFunctions;
using arrowdevice::sim::name_of;

constexpr int kMostWays = 128;
static_assert(kMostWays >= kFunctions && kMostWays >= kDevices);

struct Progress {
  Place place;
  bool reached = false;
  std::array<int64_t, kMostWays> expected{};  // calls without a failure; -1 if their number varies
  std::array<int64_t, kMostWays> failures{};
};

class DeviceInjector : public Injector {
 public:
  Outcome play(const Operation& operation, const char* plugin) final {
    progress_ = {};
    Outcome outcome;
    outcome.is_well = operation.at_first_use ? play_in_many(operation, plugin) : play_in_one(operation, plugin);
    for (int way = 0; way < kMostWays; ++way) {
      const int64_t n = progress_.failures[static_cast<size_t>(way)];
      if (n == 0) continue;
      outcome.failures += n;
      outcome.text += " " + kind(way) + " x " + std::to_string(n);
      outcome.kinds.insert(kind(way));
    }
    return outcome;
  }

 protected:
  virtual std::string kind(int way) const = 0;
  virtual std::unique_ptr<DeviceInjection> make(const Operation& operation, Left& left, Place place) const = 0;
  // Begins to count, then returns the places of this kind: 0 if there is none, -1 if their number varies.
  virtual void begin_counting() = 0;
  virtual int64_t count(const Operation& operation, int way) const = 0;

 private:
  // Counts the calls without a failure.
  class Counting : public DeviceInjection {
   public:
    Counting(const Operation& operation, Left& left, DeviceInjector& injector)
        : DeviceInjection(operation, operation.machine, left), operation_(operation), injector_(injector) {}

   private:
    void begin_failure() override { injector_.begin_counting(); }
    bool end_failure() override {
      for (int way = 0; way < kMostWays; ++way) {
        injector_.progress_.expected[static_cast<size_t>(way)] = injector_.count(operation_, way);
      }
      return false;
    }
    // The library's threads that share a copy start now, and stay.
    bool has_steady_threads() const override { return !operation_.machine.has_pinned; }

    const Operation& operation_;
    DeviceInjector& injector_;
  };

  void begin(const Operation& operation, const char* plugin) const {
    alarm(kLongestSeconds);
    if (!driver::is_used()) set_up(operation.machine, plugin);
    // Deferred work runs only when the test calls it. Otherwise the calls of a thread would be counted too.
    must(arrowdevice_deferred_set_manual, 1);
    if (operation.at_first_use) return;
    if (driver::is_used()) return driver::set_up();
    // Each device has a thread from here on.
    const Array host = Rows::flat().host();
    for (int64_t id = 0; id < kDevices; ++id) copy(*host, *Rows::flat().schema(), sim(id));
  }

  bool try_place(const Operation& operation, Left& left) {
    alarm(kLongestSeconds);
    const auto injection = make(operation, left, progress_.place);
    const bool reached = play_once(operation, *injection);
    progress_.failures[static_cast<size_t>(progress_.place.way)] += reached;
    return reached;
  }

  void play_all(const Operation& operation, const char* plugin, Place last) {
    begin(operation, plugin);
    Left left;
    if (driver::is_used()) {
      begin_from_nothing();
      left.on_devices = alive_now();
    }
    Counting counting(operation, left, *this);
    progress_.place = {};
    play_once(operation, counting);
    for (progress_.place = last; progress_.place.way < kMostWays; progress_.place = {progress_.place.way + 1, 0}) {
      const int64_t expected = progress_.expected[static_cast<size_t>(progress_.place.way)];
      for (bool reached = true; reached && (expected < 0 || progress_.place.n < expected);) {
        ++progress_.place.n;
        reached = try_place(operation, left);
      }
    }
  }

  bool play_in_one(const Operation& operation, const char* plugin) {
    int failures = 0;
    for (Place last; !ends_well([&] { play_all(operation, plugin, last); }); last = progress_.place) {
      report_place(operation);
      if (++failures == kMostFailures || progress_.place.n == 0) return false;
    }
    return failures == 0;
  }

  // Plays each place in a process of its own.
  bool play_in_many(const Operation& operation, const char* plugin) {
    int failures = 0;
    for (int way = 0; way < kMostWays; ++way) {
      progress_.reached = !kind(way).empty();
      for (progress_.place = {way, 1}; progress_.reached; ++progress_.place.n) {
        const bool is_well = ends_well([&] {
          begin(operation, plugin);
          Left left;
          progress_.reached = try_place(operation, left);
        });
        if (is_well) continue;
        report_place(operation);
        if (++failures == kMostFailures) return false;
      }
    }
    return failures == 0;
  }

  void report_place(const Operation& operation) const {
    const Place place = progress_.place;
    report(operation, place.n == 0 ? "without a failure" : kind(place.way) + ", " + std::to_string(place.n));
  }

  Progress& progress_ = make_shared_object<Progress>();
};

class Calls : public DeviceInjector {
 public:
  Injectors id() const override { return kCalls; }

 private:
  std::string kind(int way) const override {
    const auto function = static_cast<Function>(way);
    return way < kFunctions && arrowdevice::sim::can_fail(function) ? std::string(name_of(function)) : "";
  }
  std::unique_ptr<DeviceInjection> make(const Operation& operation, Left& left, Place place) const override {
    return make_call_failure(operation, left, kind(place.way), place.n);
  }
  void begin_counting() override {
    for (int way = 0; way < kMostWays; ++way) before_[static_cast<size_t>(way)] = calls(way);
  }
  // The number of queries of a pending event depends on the timing of the device.
  int64_t count(const Operation& operation, int way) const override {
    if (kind(way).empty()) return 0;
    if (operation.has_threads || kind(way) == "event_query") return -1;
    return calls(way) - before_[static_cast<size_t>(way)];
  }
  int64_t calls(int way) const { return kind(way).empty() ? 0 : control::calls(kind(way)); }

  std::array<int64_t, kMostWays> before_{};
};

class DriverCalls : public DeviceInjector {
 public:
  Injectors id() const override { return kLosses; }
  bool plays(const Operation& operation) const override {
    return DeviceInjector::plays(operation) && driver::can_play(operation);
  }

 private:
  std::string kind(int way) const override {
    return way < std::ssize(driver::calls()) ? driver::calls()[static_cast<size_t>(way)] : "";
  }
  std::unique_ptr<DeviceInjection> make(const Operation& operation, Left& left, Place place) const override {
    return make_driver_failure(operation, left, kind(place.way), place.n);
  }
  void begin_counting() override {
    for (int way = 0; way < kMostWays; ++way) before_[static_cast<size_t>(way)] = calls(way);
  }
  // The number of calls depends on the timing of the driver's threads and on what the backend keeps.
  int64_t count(const Operation&, int way) const override {
    return calls(way) == before_[static_cast<size_t>(way)] ? 0 : -1;
  }
  int64_t calls(int way) const { return kind(way).empty() ? 0 : driver::count(kind(way)); }

  std::array<int64_t, kMostWays> before_{};
};

class Losses : public DeviceInjector {
 public:
  Injectors id() const override { return kLosses; }

 private:
  std::string kind(int way) const override { return way < kDevices ? "device " + std::to_string(way) : ""; }
  std::unique_ptr<DeviceInjection> make(const Operation& operation, Left& left, Place place) const override {
    return make_loss(operation, left, place.way, place.n);
  }
  void begin_counting() override {
    for (int64_t id = 0; id < kDevices; ++id) before_[static_cast<size_t>(id)] = control::counters(id);
  }
  // A device takes part if its counters change.
  int64_t count(const Operation&, int way) const override {
    if (way >= kDevices) return 0;
    const auto now = control::counters(way);
    return std::memcmp(&now, &before_[static_cast<size_t>(way)], sizeof now) == 0 ? 0 : -1;
  }

  std::array<arrowdevice::sim::Counters, kDevices> before_{};
};

}  // namespace

std::unique_ptr<Injector> inject_calls() { return std::make_unique<Calls>(); }
std::unique_ptr<Injector> inject_driver_calls() { return std::make_unique<DriverCalls>(); }
std::unique_ptr<Injector> inject_losses() { return std::make_unique<Losses>(); }

}  // namespace faults
