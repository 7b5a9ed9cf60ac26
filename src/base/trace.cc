// SPDX-License-Identifier: Apache-2.0
#include "base/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/error.h"
#include "base/log.h"
#include "base/nvtx.h"
#include "base/trace_file.h"

namespace arrowdevice::trace {
namespace {

int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The format counts in microseconds.
std::string microseconds(int64_t ns) {
  return format("%lld.%03lld", static_cast<long long>(ns / 1000), static_cast<long long>(ns % 1000));
}

// Returns the members that every event has.
std::string event(const char* phase, const char* category, const char* name, int64_t at_ns) {
  return "{\"ph\":" + quoted(phase) + ",\"cat\":" + quoted(category) + ",\"name\":" + quoted(name) +
         ",\"ts\":" + microseconds(at_ns) + ",\"pid\":" + std::to_string(::getpid()) +
         ",\"tid\":" + std::to_string(::syscall(SYS_gettid));
}

// Reads the environment. Several threads may do so at once, with the same result.
int read_receivers() noexcept {
  try {
    const int found =
        (is_logged(LogLevel::kDebug) ? kLog : 0) | (TraceFile::open() ? kFile : 0) | (nvtx::attach() ? kProfiler : 0);
    receivers = found;
    return found;
  } catch (...) {
    return 0;  // there is no memory, and the next span tries again
  }
}

uint64_t write_later(const char* phase, const char* category, const char* name, uint64_t number) noexcept {
  int known = receivers.load(std::memory_order_relaxed);
  if (known < 0) known = read_receivers();
  if ((known & kFile) == 0) return 0;
  try {
    TraceFile::instance().write(event(phase, category, name, now_ns()) + ",\"id\":" + std::to_string(number) + "}");
    return number;
  } catch (...) {
    return 0;  // there is no memory for the event
  }
}

}  // namespace

std::atomic<int> receivers{-1};

std::string& Facts::member(std::string_view key) {
  if (!members_.empty()) members_ += ',';
  members_ += quoted(key);
  members_ += ':';
  return members_;
}

Facts& Facts::add(std::string_view key, std::string_view text) {
  member(key) += quoted(text);
  return *this;
}

Facts& Facts::add(std::string_view key, int64_t number) {
  member(key) += std::to_string(number);
  return *this;
}

Facts& Facts::add_flag(std::string_view key, bool value) {
  member(key) += value ? "true" : "false";
  return *this;
}

Facts& Facts::log_as(std::string before_time, std::string_view after_time) {
  before_time_ = std::move(before_time);
  after_time_ = after_time;
  return *this;
}

void Span::begin(const char* category, const char* name, int64_t least_ns) noexcept {
  if (receivers_ < 0) receivers_ = read_receivers();
  category_ = category;
  name_ = name;
  least_ns_ = least_ns;
  begin_ns_ = now_ns();
  duration_ns_ = -1;
  if ((receivers_ & kProfiler) != 0) nvtx::push(name);
}

// Returns true if the log or the file gets the span, which is not too short.
bool Span::stop() noexcept {
  duration_ns_ = now_ns() - begin_ns_;
  return duration_ns_ >= least_ns_ && (receivers_ & (kLog | kFile)) != 0;
}

void Span::report(const Facts& facts) const {
  if ((receivers_ & kLog) != 0 && !facts.before_time_.empty()) {
    const auto time = format(", %.1f us", static_cast<double>(duration_ns_) / 1000);
    log(LogLevel::kDebug, facts.before_time_ + time + facts.after_time_);
  }
  if ((receivers_ & kFile) == 0) return;
  TraceFile::instance().write(event("X", category_, name_, begin_ns_) + ",\"dur\":" + microseconds(duration_ns_) +
                              ",\"args\":{" + facts.members_ + "}}");
}

void Span::leave() noexcept {
  if (duration_ns_ < 0) end([] { return Facts().add_flag("failed", true); });
  if ((receivers_ & kProfiler) != 0) nvtx::pop();
}

uint64_t begin_later(const char* category, const char* name) noexcept {
  static std::atomic<uint64_t> last{0};
  return write_later("b", category, name, ++last);
}

void end_later(const char* category, const char* name, uint64_t number) noexcept {
  if (number != 0) write_later("e", category, name, number);
}

}  // namespace arrowdevice::trace
