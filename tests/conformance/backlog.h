// SPDX-License-Identifier: Apache-2.0
// Delays a queue, so that a missing wait lets later work overtake the delayed work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "conformance/bytes.h"
#include "conformance/own_array.h"

namespace arrowdevice::conformance {

// A series of slow copies on the device's peer. The device under test stays free.
class Backlog {
 public:
  static constexpr int kFewCopies = 16;

  explicit Backlog(Subject& subject, int copies = kFewCopies);
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // Makes the queue wait until the copies have finished.
  void hold_up(arrowdevice_queue* queue) const;

  // Returns an int32 array on the peer. The array becomes ready when the copies have finished.
  ArrowDeviceArray* array() noexcept { return last_.get(); }
  // The host memory that the last copy writes, and the bytes that the last copy writes there.
  std::span<const uint8_t> arrived() const noexcept { return {static_cast<const uint8_t*>(arrived_.get()), kSize}; }
  bool has_arrived() const noexcept { return std::ranges::equal(arrived(), expected_); }
  const Bytes& expected() const noexcept { return expected_; }

 private:
  static constexpr int64_t kSize = 4 << 20;

  Bytes expected_;
  // Pinned memory if the peer has some, because a driver may wait for copies of other host memory.
  DeviceBuffer bytes_;
  DeviceBuffer arrived_;
  Queue queue_;
  Owned<ArrowDeviceArray> last_;
};

}  // namespace arrowdevice::conformance
