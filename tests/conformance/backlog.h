// SPDX-License-Identifier: Apache-2.0
// Delays a queue, so that a missing wait lets later work overtake the delayed work.
#pragma once

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
  const Bytes& arrived() const noexcept { return arrived_; }
  const Bytes& expected() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
  Bytes arrived_;
  Queue queue_;
  Owned<ArrowDeviceArray> last_;
};

}  // namespace arrowdevice::conformance
