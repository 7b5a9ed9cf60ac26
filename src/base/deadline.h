// SPDX-License-Identifier: Apache-2.0
// A time-out that several waits share.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace arrowdevice {

class Deadline {
 public:
  // Nanoseconds from now; negative: never.
  explicit Deadline(int64_t timeout_ns) noexcept
      : timeout_ns_(timeout_ns), start_(timeout_ns > 0 ? std::chrono::steady_clock::now() : TimePoint{}) {}

  // As options have it: 0 is for ever.
  static Deadline from_option(int64_t timeout_ns) noexcept { return Deadline(timeout_ns == 0 ? -1 : timeout_ns); }

  // Nanoseconds left, 0 when it has passed; -1: for ever.
  int64_t left() const noexcept {
    if (timeout_ns_ <= 0) return std::max<int64_t>(timeout_ns_, -1);
    const auto passed = std::chrono::steady_clock::now() - start_;
    return std::max<int64_t>(0, timeout_ns_ - std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
  }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  int64_t timeout_ns_;
  TimePoint start_;
};

}  // namespace arrowdevice
