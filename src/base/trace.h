// SPDX-License-Identifier: Apache-2.0
// Tells the log, the trace file and a profiler about the library's work: copies, moves, waits, the growth of pools, and
// backends.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace arrowdevice::trace {

// The receivers that the environment asks for.
inline constexpr int kLog = 1;       // ARROWDEVICE_LOG=debug
inline constexpr int kFile = 2;      // ARROWDEVICE_TRACE
inline constexpr int kProfiler = 4;  // NVTX_INJECTION64_PATH

// A sum of receivers, or -1 if the environment was not read.
extern std::atomic<int> receivers;

// The facts about a span that a receiver gets.
class Facts {
 public:
  Facts& add(std::string_view key, std::string_view text);
  Facts& add(std::string_view key, int64_t number);
  Facts& add_flag(std::string_view key, bool value);

  // Sets the message for the log, with the time of the span between the two texts. Other spans are not logged.
  Facts& log_as(std::string before_time, std::string_view after_time = {});

 private:
  friend class Span;
  std::string& member(std::string_view key);

  std::string members_;  // of a JSON object
  std::string before_time_;
  std::string after_time_;
};

// The log and the file get waits of at least this time only, because most waits are over at once. A profiler gets all,
// because it learns of a span when the span begins.
inline constexpr int64_t kLeastWaitNs = 5'000;

// A period of a thread's work. Spans of one thread are nested. Without receivers a span costs five instructions.
class Span {
 public:
  // The name and the category live as long as the process.
  Span(const char* category, const char* name, int64_t least_ns = 0) noexcept
      : receivers_(receivers.load(std::memory_order_relaxed)) {
    if (receivers_ != 0) begin(category, name, least_ns);
  }
  // Reports a span that end() has not ended, because an exception has. Such a span has the fact `failed`.
  ~Span() {
    if (receivers_ != 0) leave();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  // Ends the span. Calls `make`, which returns the facts, if a receiver gets them.
  template <typename Make>
  void end(const Make& make) noexcept {
    if (receivers_ == 0 || !stop()) return;
    try {
      report(make());
    } catch (...) {
      return;  // there is no memory for the facts
    }
  }

 private:
  void begin(const char* category, const char* name, int64_t least_ns) noexcept;
  bool stop() noexcept;
  void report(const Facts& facts) const;
  void leave() noexcept;

  int receivers_;
  // The members below are set only if there are receivers.
  const char* category_;
  const char* name_;
  int64_t least_ns_;
  int64_t begin_ns_;
  int64_t duration_ns_;
};

// Reports work that ends later than the call that has begun it. The two events have the same name and number.
// begin_later() returns that number, or 0 if no receiver gets it.
uint64_t begin_later(const char* category, const char* name) noexcept;
void end_later(const char* category, const char* name, uint64_t number) noexcept;

}  // namespace arrowdevice::trace
