// SPDX-License-Identifier: Apache-2.0
// The log of copies: a line for each copy if ARROWDEVICE_LOG is "debug".
#pragma once

#include <chrono>
#include <cstdint>

#include "base/log.h"
#include "transfer/placement.h"
#include "transfer/route.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {

class CopyLog {
 public:
  CopyLog() : begin_(logs_details() ? Clock::now() : Clock::time_point()) {}

  // Logs a copy that succeeded. `in_flight` is NULL if the CPU copied.
  void copied(const Route& route, const PlacedBuffers& placed, const InFlight* in_flight,
              bool is_pending) const noexcept {
    if (begin_ != Clock::time_point()) write(route, placed, in_flight, is_pending);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void write(const Route& route, const PlacedBuffers& placed, const InFlight* in_flight,
             bool is_pending) const noexcept;

  const Clock::time_point begin_;
};

// Logs a move without a copy.
void log_shared(const device::Device& source, const device::Device& target) noexcept;

}  // namespace arrowdevice::transfer
