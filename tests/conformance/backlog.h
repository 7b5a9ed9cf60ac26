// SPDX-License-Identifier: Apache-2.0
// Delays a queue, so that a missing wait lets later work overtake the delayed work.
#pragma once

#include <optional>
#include <span>

#include "conformance/delay.h"
#include "conformance/own_array.h"

namespace arrowdevice::conformance {

// A series of slow copies on another device of the type, so that the device under test stays free. If there is no other
// device, the copies are on a delayed queue of the device under test. If the driver offers a delay, it comes before the
// copies, and the copies use pinned memory.
class Backlog {
 public:
  static constexpr int kFewCopies = 16;

  explicit Backlog(Subject& subject, int copies = kFewCopies);
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // Makes the queue wait until the copies have finished.
  void hold_up(arrowdevice_queue* queue) const;

  // Returns an int32 array on the device with the copies. The array becomes ready when the copies have finished.
  ArrowDeviceArray* array() noexcept { return last_.get(); }
  // Returns the host memory that the last copy writes.
  std::span<const unsigned char> arrived() const noexcept;
  // Returns the bytes that the last copy writes there.
  const Bytes& expected() const noexcept { return bytes_; }
  bool has_arrived() const;

 private:
  const Bytes bytes_;
  Bytes pageable_;
  std::optional<DeviceBuffer> pinned_;  // the source of the copies, then the target of the last copy
  Queue queue_;
  std::optional<Delay> delay_;
  Owned<ArrowDeviceArray> last_;
};

}  // namespace arrowdevice::conformance
