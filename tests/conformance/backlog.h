// SPDX-License-Identifier: Apache-2.0
// Work that holds a queue up, so that what must wait behind it would otherwise be overtaken.
#pragma once

#include "conformance/own_array.h"

namespace arrowdevice::conformance {

// A pile of copies on the device's peer, which takes its time and leaves the device itself free.
class Backlog {
 public:
  explicit Backlog(Subject& subject);
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // The queue does nothing more before the pile is done.
  void hold_up(arrowdevice_queue* queue) const;

  // An array on the peer, of type int32, that is there when the pile is done.
  ArrowDeviceArray* array() noexcept { return last_.get(); }
  // Host memory that the pile writes last of all, and what it writes there.
  const Bytes& arrived() const noexcept { return arrived_; }
  const Bytes& expected() const noexcept { return bytes_; }

 private:
  Bytes bytes_;
  Bytes arrived_;
  Queue queue_;
  Owned<ArrowDeviceArray> last_;
};

}  // namespace arrowdevice::conformance
