// SPDX-License-Identifier: Apache-2.0
// What a device counted itself: the truth that tests hold against what the library says.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace arrowdevice::sim {

// Counted when a call is accepted, not when the engine gets to it. `*_live` is what exists now: a leak, at exit.
struct Counters {
  int64_t allocations = 0;
  int64_t allocations_live = 0;
  int64_t bytes_live = 0;
  int64_t bytes_peak = 0;
  int64_t sub_buffers = 0;  // on devices with handles
  int64_t sub_buffers_live = 0;
  int64_t host_registrations = 0;
  int64_t host_registrations_live = 0;
  int64_t queues = 0;
  int64_t queues_live = 0;
  int64_t copies = 0;  // calls, each a batch
  int64_t regions = 0;
  int64_t bytes_in = 0;      // from the host to the device
  int64_t bytes_out = 0;     // from the device to the host
  int64_t bytes_within = 0;  // from the device to itself
  int64_t bytes_peer = 0;    // from or to another device
  int64_t events_recorded = 0;
  int64_t events_imported = 0;
  int64_t events_live = 0;  // both kinds
  int64_t host_waits = 0;
  int64_t queue_waits = 0;
};

Counters& operator+=(Counters& counters, const Counters& more);

// The counters as members of a JSON object, without its braces, each line indented by `indent`.
std::string to_json(const Counters& counters, const std::string& indent);

// Counters that several threads write.
class Statistics {
 public:
  template <typename Change>
  void update(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(counters_);
  }

  Counters snapshot() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

  // Begins to count anew; what is live stays so.
  void reset();

 private:
  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace arrowdevice::sim
