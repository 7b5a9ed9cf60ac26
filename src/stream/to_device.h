// SPDX-License-Identifier: Apache-2.0
// Streams whose arrays are put on another device when the consumer reads them.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/queue.h"
#include "transfer/move.h"

namespace arrowdevice::stream {

struct MoveOptions {
  transfer::CopyOptions copy;            // all options but the queue and the time-out
  std::shared_ptr<device::Queue> queue;  // held as long as the stream; NULL: a queue of the library
  int64_t timeout_ns = 0;                // limit of each batch's waits on the CPU before submission
  int32_t depth = 2;                     // number of batches requested ahead of the current batch
  bool reads_ahead = false;              // a thread of the stream calls the producer
};

void to_device(ArrowDeviceArrayStream& moved, device::Device& to, const MoveOptions& options,
               ArrowDeviceArrayStream* out);

// Does the same as to_device() with the CPU as the target. Each array is complete when it is returned.
void to_host(ArrowDeviceArrayStream& moved, const MoveOptions& options, ArrowArrayStream* out);

}  // namespace arrowdevice::stream
