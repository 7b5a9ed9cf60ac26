// SPDX-License-Identifier: Apache-2.0
// The log and the trace of copies and moves.
#pragma once

#include <cstdint>

#include "base/trace.h"
#include "transfer/route.h"
#include "transfer/submit.h"

namespace arrowdevice::transfer {

struct CopySize {
  int64_t bytes = 0;    // of the allocation
  int64_t buffers = 0;  // that have bytes
};

// Lives as long as the copy, and reports one that fails.
class CopyLog {
 public:
  // Reports a copy that succeeded. `in_flight` is NULL if the CPU copied.
  void copied(const Route& route, const CopySize& size, const InFlight* in_flight, bool is_pending) noexcept {
    span_.end([&] { return facts(route, size, in_flight, is_pending); });
  }

 private:
  static trace::Facts facts(const Route& route, const CopySize& size, const InFlight* in_flight, bool is_pending);

  trace::Span span_{"copy", "copy"};
};

// A move without a copy.
class MoveLog {
 public:
  void moved(const device::Device& source, const device::Device& target) noexcept;

 private:
  trace::Span span_{"copy", "move"};
};

// The work of a copy after its call has ended, until the library learns that it has finished.
class LaterWork {
 public:
  LaterWork() = default;
  ~LaterWork() {
    if (number_ != 0) end();
  }
  LaterWork(const LaterWork&) = delete;
  LaterWork& operator=(const LaterWork&) = delete;

  void begin() noexcept;

 private:
  void end() noexcept;

  uint64_t number_ = 0;
};

}  // namespace arrowdevice::transfer
