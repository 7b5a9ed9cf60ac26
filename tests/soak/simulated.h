// SPDX-License-Identifier: Apache-2.0
// Simulated devices of several forms, linked into the program, and the faults that are injected into them.
//
// A fault belongs to the thread that plans it and hits that thread's own calls. Therefore the call of the
// library that carries it is known. Threads of the library plan nothing. Their calls fail now and then
// while fail_library_threads() is on, in functions that only streams call there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "sim/functions.h"

namespace soak {

using arrowdevice::sim::Function;

constexpr int64_t kSims = 6;
constexpr int64_t kSmallSim = 4;  // full at times

// The text in the message of every injected failure.
constexpr const char* kAskedFor = "asked for";

struct Fault {
  std::optional<Function> function;  // Function::event is an event that will fail; none means any function
  int64_t call = 1;                  // index of the call, from 1
  int code = 0;
};

// Plans the fault of this thread for its lifetime. Without a fault it also disables the faults of outer
// scopes.
class Planned {
 public:
  explicit Planned(std::optional<Fault> fault = std::nullopt);
  ~Planned();
  Planned(const Planned&) = delete;

  // Returns true if this call of the function fails. The devices call it.
  bool strikes(Function function);

  // Returns the function that the fault hit, if any.
  std::optional<Function> struck() const { return struck_; }
  bool dooms_an_event() const { return struck_ == Function::event; }
  int code() const { return fault_->code; }

 private:
  const std::optional<Fault> fault_;
  Planned* const outer_;
  int64_t calls_ = 0;
  std::optional<Function> struck_;
};

// Errors that a soak must notice. The first two are errors of a driver, made now and then. The last is an
// error of a program.
enum class Mistake { kNone, kHalfACopy, kFailure, kLeak };

// Registers the devices with the library, and marks the calling thread like mark_own_thread().
void register_simulated(uint64_t seed, Mistake mistake);

// Marks a thread of the program before it calls the library.
void mark_own_thread();

// Sets another pace for each device. No other thread may call the library meanwhile.
void set_pace(uint64_t seed);

// Makes every `calls`-th call fail on average; 0 means none.
void fail_library_threads(int64_t calls);
int64_t failures_on_library_threads();

// Returns a description of objects that the devices still have, or calls that they refused. Returns "" if
// there are none. Call it when nothing is in use any more.
std::string left_on_devices(int64_t most_queues);

// Stops the devices in turn for some milliseconds during its lifetime.
class Holding {
 public:
  explicit Holding(uint64_t seed);
  ~Holding();
  Holding(const Holding&) = delete;

  int64_t times() const { return times_; }

 private:
  bool ends_within(int64_t milliseconds);

  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;
  std::atomic<int64_t> times_{0};
  std::thread thread_;
};

}  // namespace soak
