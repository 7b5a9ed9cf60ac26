// SPDX-License-Identifier: Apache-2.0
// The copy engine: an array, at any nesting, becomes one allocation, one submission and one event.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>

#include "base/deadline.h"
#include "device/device.h"
#include "device/pool.h"
#include "device/queue.h"
#include "schema/binding.h"

namespace arrowdevice::transfer {

struct CopyRequest {
  device::Device& source;
  void* sync_event;         // of the source array
  ArrowDeviceArray* moved;  // the source, to hold a reference if the call ends early; NULL: the caller keeps it alive
  device::Device& target;
  device::Queue* queue = nullptr;      // NULL: a queue of the library
  std::shared_ptr<device::Pool> pool;  // NULL: the target's default
  bool async = false;                  // return while the copy runs, if the target publishes events
  device::Holder holder = device::Holder::kCopies;
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};  // limit of all waits
};

// Copies the array; without trimming it if `whole` is true. Returns the event after which the copy has finished, which
// `out` then carries, or NULL if the copy is complete. On failure, no work of the copy runs any more and nothing is
// leaked. If the deadline or the thread's check ends a wait, the submitted work runs on, with its memory. The library
// then holds a reference to `moved`.
std::shared_ptr<device::Event> copy_array(const schema::Binding& array, bool whole, const CopyRequest& request,
                                          ArrowDeviceArray* out);

}  // namespace arrowdevice::transfer
