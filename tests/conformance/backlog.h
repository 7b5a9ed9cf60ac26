// SPDX-License-Identifier: Apache-2.0
// Keeps a queue waiting, so that a missing wait lets later work overtake the waiting work.
#pragma once

#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "conformance/gate.h"
#include "conformance/own_array.h"

namespace arrowdevice::conformance {

// A series of slow copies on another device of the type, so that the device under test stays free. If there is no other
// device, the copies are on a queue of the device under test. If the driver offers a gate, it is shut before the
// copies, and the test opens it. A test calls open() before it waits for the copies.
class Backlog {
 public:
  static constexpr int kFewCopies = 16;

  explicit Backlog(Subject& subject, int copies = kFewCopies);
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // Returns true if no copy begins before open().
  bool is_gated() const noexcept { return gate_.has_value(); }
  void open() {
    if (gate_) gate_->open();
  }

  // Makes the queue wait until the copies have finished.
  void hold_up(arrowdevice_queue* queue) const;

  // Returns an int32 array on the device with the copies. The array becomes ready when the copies have finished.
  ArrowDeviceArray* array() noexcept { return last_.get(); }
  // Returns the host memory that the last copy writes, and the bytes that it writes there.
  const HostBuffer& arrived() const noexcept { return arrived_; }
  const Bytes& expected() const noexcept { return bytes_; }
  bool has_arrived() const { return arrived_.holds(bytes_); }

 private:
  const Bytes bytes_;
  const HostBuffer source_;
  const HostBuffer arrived_;
  Queue queue_;
  std::optional<Gate> gate_;
  Owned<ArrowDeviceArray> last_;
};

// Opens a backlog after one second, or earlier in the destructor. Without this, a driver that blocks after about a
// thousand commands would never return.
class OpensSoon {
 public:
  explicit OpensSoon(Backlog& backlog)
      : thread_([this, &backlog] {
          is_submitted_.get_future().wait_for(std::chrono::seconds(1));
          backlog.open();
        }) {}
  ~OpensSoon() {
    is_submitted_.set_value();
    thread_.join();
  }
  OpensSoon(const OpensSoon&) = delete;
  OpensSoon& operator=(const OpensSoon&) = delete;

 private:
  std::promise<void> is_submitted_;
  std::thread thread_;
};

}  // namespace arrowdevice::conformance
