// SPDX-License-Identifier: Apache-2.0
// Keeps a queue busy for some milliseconds, with a function that the device's driver offers without a compiler. A real
// driver has finished a copy of pageable memory when the call returns, so that such copies leave no pending work.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <functional>
#include <thread>

namespace arrowdevice::conformance {

// Thread-safety: one thread.
class Delay {
 public:
  // Returns true if the driver of this device has a delay that leaves its other queues alone.
  static bool is_offered(const arrowdevice_device_info& info);

  // Enqueues a wait. Throws Failure if the driver refuses it.
  Delay(arrowdevice_device* device, arrowdevice_queue* queue);
  // Requires that the work of the queue has finished.
  ~Delay();
  Delay(const Delay&) = delete;
  Delay& operator=(const Delay&) = delete;

 private:
  void delay_opencl(arrowdevice_device* device, void* queue);

  std::thread signal_;             // ends the wait, if the driver does not
  std::function<void()> destroy_;  // destroys the driver's objects
};

}  // namespace arrowdevice::conformance
