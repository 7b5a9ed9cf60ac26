// SPDX-License-Identifier: Apache-2.0
// Keeps a queue waiting until the test opens a gate, with a function that the device's driver offers without a
// compiler. A real driver has finished a copy of pageable memory when the call returns, so that such copies leave no
// pending work.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <functional>

namespace arrowdevice::conformance {

// Thread-safety: one thread.
class Gate {
 public:
  // Returns true if the driver of this device has a gate that leaves its other queues alone.
  static bool is_offered(const arrowdevice_device_info& info);

  // Makes later work of the queue wait. Throws Failure if the driver refuses that.
  Gate(arrowdevice_device* device, arrowdevice_queue* queue);
  // Requires that the gate is open and that the work of the queue has finished.
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open();

 private:
  void shut_cuda(arrowdevice_device* device, void* stream);
  void shut_hip(arrowdevice_device* device, void* stream);
  void shut_opencl(arrowdevice_device* device, void* queue);

  std::atomic<bool> is_open_{false};
  std::function<void()> signal_;   // tells a driver that does not see is_open_
  std::function<void()> destroy_;  // destroys the driver's objects
};

}  // namespace arrowdevice::conformance
