// SPDX-License-Identifier: Apache-2.0
// The copy engine: one array, however nested, becomes one allocation, one submission and one event.
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
  const schema::Binding& array;
  device::Device& source;
  void* sync_event;  // of the source array
  device::Device& target;
  device::Queue* queue = nullptr;             // NULL: the library's own
  std::shared_ptr<device::Pool> pool;         // NULL: the target's default
  bool async = false;                         // return while the copy runs, where the target can say when it is done
  bool whole = false;                         // do not trim
  Deadline deadline{ARROWDEVICE_NO_TIMEOUT};  // of waits before submission
};

// Makes the copy. Returns the event after which it is done, which `out` carries then, or NULL for a copy that is
// complete. On failure nothing of it runs any more and nothing is left behind.
std::shared_ptr<device::Event> copy_array(const CopyRequest& request, ArrowDeviceArray* out);

}  // namespace arrowdevice::transfer
