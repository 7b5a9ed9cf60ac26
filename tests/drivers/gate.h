// SPDX-License-Identifier: Apache-2.0
// Work of an application that stands still until the test says so, on GPU 0 of the vendor under test.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <atomic>

#include "drivers/devices.h"
#include "drivers/vendor.h"
#include "support/cases.h"
#include "support/handles.h"

namespace drivers {

// A record batch below the size from which copies use several threads.
const arrowdevice::testing::HostCase& small();

arrowdevice::testing::Owned<ArrowDeviceArray> on_host(const arrowdevice::testing::HostCase& one);
arrowdevice::testing::Owned<ArrowDeviceArray> on_gpu(const arrowdevice::testing::HostCase& one);

// An application's stream that stands still until the gate opens, and an array with an event behind the gate.
class Gate {
 public:
  Gate();
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open();
  bool is_open() const { return is_open_; }
  ArrowDeviceArray* array() { return array_.get(); }
  void* stream() const { return stream_; }
  // Returns a queue of the library that waits for the gate.
  arrowdevice::testing::Queue queue();

 private:
  std::atomic<bool> is_open_{false};
  arrowdevice::testing::Owned<ArrowDeviceArray> array_;  // made first, which starts the driver
  void* const stream_;
  void* event_;
};

}  // namespace drivers
