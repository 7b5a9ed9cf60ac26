// SPDX-License-Identifier: Apache-2.0
// Counters of the driver calls on one device. A cache hit in a pool is not a driver call.
#pragma once

#include <atomic>
#include <cstdint>

namespace arrowdevice::device {

struct Counters {
  std::atomic<int64_t> buffers{0};
  std::atomic<int64_t> submissions{0};
  std::atomic<int64_t> regions{0};
  std::atomic<int64_t> events{0};
  std::atomic<int64_t> host_waits{0};
  std::atomic<int64_t> readbacks{0};
  std::atomic<int64_t> bytes_in{0};
  std::atomic<int64_t> bytes_out{0};
  std::atomic<int64_t> staged_bytes{0};

  static void add(std::atomic<int64_t>& counter, int64_t n) noexcept {
    counter.fetch_add(n, std::memory_order_relaxed);
  }
};

}  // namespace arrowdevice::device
