// SPDX-License-Identifier: Apache-2.0
// A time-out that several waits share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace arrowdevice {

class Deadline {
 public:
  // Takes a time-out of the C API. Above 0 is the limit in nanoseconds from now, 0 is no limit, and below 0 has passed
  // already.
  explicit Deadline(int64_t timeout_ns) noexcept
      : timeout_ns_(timeout_ns), start_(timeout_ns > 0 ? std::chrono::steady_clock::now() : TimePoint{}) {}

  bool has_limit() const noexcept { return timeout_ns_ != 0; }

  // Returns the remaining time as a time-out: nanoseconds above 0, 0 if there is no limit, -1 if the deadline has
  // passed.
  int64_t left() const noexcept {
    if (timeout_ns_ <= 0) return std::max<int64_t>(timeout_ns_, -1);
    const auto passed = std::chrono::steady_clock::now() - start_;
    const int64_t rest = timeout_ns_ - std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
    return rest > 0 ? rest : -1;
  }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  int64_t timeout_ns_;
  TimePoint start_;
};

}  // namespace arrowdevice
