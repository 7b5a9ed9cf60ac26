// SPDX-License-Identifier: Apache-2.0
// Keeps a queue waiting until the test opens a gate, with a function that the device's driver offers without a
// compiler. A real driver has finished a copy of pageable memory when the call returns, so that such copies leave no
// pending work.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <functional>
#include <optional>

#include "conformance/level_zero.h"

namespace arrowdevice::conformance {

// Returns true if copies within the device have finished when the call returns, as with pinned memory.
bool finishes_copies(const arrowdevice_device_info& info);

// Thread-safety: one thread, and any thread for open().
class Gate {
 public:
  // Returns true if the driver of this device has a gate that leaves its other queues alone, and copies behind it do
  // not block.
  static bool is_offered(const arrowdevice_device_info& info);

  // Makes later work of the queue wait. Throws Failure if the driver refuses that.
  Gate(arrowdevice_device* device, arrowdevice_queue* queue);
  // Requires that the gate is open and that the work of the queue has finished.
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open();

  // With some drivers, arrays have no events. There, mark_end() is called once, when the work behind the gate is
  // enqueued. hold_until_end() makes another queue wait for that work, by an event of the driver.
  static bool has_own_events(const arrowdevice_device_info& info);
  bool has_mark() const noexcept { return level_zero_.has_value(); }
  void mark_end(arrowdevice_queue* queue);
  void hold_until_end(arrowdevice_queue* queue) const;

 private:
  void shut_cuda(arrowdevice_device* device, void* stream);
  void shut_hip(arrowdevice_device* device, void* stream);
  void shut_opencl(arrowdevice_device* device, void* queue);
  void shut_level_zero(arrowdevice_device* device, void* list);

  std::atomic<bool> is_open_{false};
  std::optional<LevelZero> level_zero_;
  LevelZero::Events events_{};
  std::function<void()> signal_;   // tells a driver that does not see is_open_
  std::function<void()> destroy_;  // destroys the driver's objects
};

}  // namespace arrowdevice::conformance
