// SPDX-License-Identifier: Apache-2.0
// Simulated devices of several forms, linked into the program, and the faults that are put into them.
//
// A fault belongs to the thread that plans it and strikes that thread's own calls, so that it is known which call of
// the library carries it. Threads of the library plan nothing: theirs fail now and then while fail_library_threads()
// says so, in functions that only streams call there.
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

// Every failure that is put in says so.
constexpr const char* kAskedFor = "asked for";

struct Fault {
  std::optional<Function> function;  // Function::event: an event that will fail; none: whatever is called
  int64_t call = 1;                  // which of these calls, counted from 1
  int code = 0;
};

// The fault of this thread while it lives; without one, no fault of an outer scope strikes either.
class Planned {
 public:
  explicit Planned(std::optional<Fault> fault = std::nullopt);
  ~Planned();
  Planned(const Planned&) = delete;

  // Asked by the devices: whether this call of the function is the one.
  bool strikes(Function function);

  // What it struck, if anything.
  std::optional<Function> struck() const { return struck_; }
  bool dooms_an_event() const { return struck_ == Function::event; }
  int code() const { return fault_->code; }

 private:
  const std::optional<Fault> fault_;
  Planned* const outer_;
  int64_t calls_ = 0;
  std::optional<Function> struck_;
};

// What a soak must notice. The first two are a driver's, made now and then; the last one is a program's.
enum class Mistake { kNone, kHalfACopy, kFailure, kLeak };

// Registers the devices with the library, and marks the calling thread as mark_own_thread() does.
void register_simulated(uint64_t seed, Mistake mistake);

// Each thread of the program that calls the library says so first.
void mark_own_thread();

// Another pace for each device. Not while another thread calls the library.
void set_pace(uint64_t seed);

// One call in `calls` fails; 0: none.
void fail_library_threads(int64_t calls);
int64_t failures_on_library_threads();

// When nothing is in use any more: what the devices still have or have refused, "" if nothing that they should not.
std::string left_on_devices(int64_t most_queues);

// Stops one device after another for some milliseconds while it lives.
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
