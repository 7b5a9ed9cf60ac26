// SPDX-License-Identifier: Apache-2.0
// The device's own counters. Tests compare the library's figures with them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace arrowdevice::sim {

// Calls are counted when they are accepted, not when the engine runs them. `*_live` counts existing objects, which are
// leaks at exit.
struct Counters {
  int64_t allocations = 0;
  int64_t allocations_live = 0;
  int64_t bytes_live = 0;
  int64_t bytes_peak = 0;
  int64_t sub_buffers = 0;  // on devices with handles
  int64_t sub_buffers_live = 0;
  int64_t queues = 0;
  int64_t queues_live = 0;
  int64_t copies = 0;  // calls; each is a batch
  int64_t regions = 0;
  int64_t bytes_in = 0;      // from the host to the device
  int64_t bytes_out = 0;     // from the device to the host
  int64_t bytes_within = 0;  // from the device to itself
  int64_t bytes_peer = 0;    // from or to another device
  int64_t events_recorded = 0;
  int64_t events_imported = 0;
  int64_t events_live = 0;  // recorded and imported events
  int64_t host_waits = 0;
  int64_t queue_waits = 0;
};

Counters& operator+=(Counters& counters, const Counters& more);

// Returns the counters as members of a JSON object without braces. Each line is indented by `indent`.
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

  // Resets the counters, except those of live objects.
  void reset();

 private:
  mutable std::mutex mutex_;
  Counters counters_;
};

}  // namespace arrowdevice::sim
