// SPDX-License-Identifier: Apache-2.0
// Streams that move to another device while they flow.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/queue.h"
#include "transfer/move.h"

namespace arrowdevice::stream {

struct MoveOptions {
  transfer::CopyOptions copy;            // but for the queue and the time-out
  std::shared_ptr<device::Queue> queue;  // held as long as the stream; NULL: the library's own
  int64_t timeout_ns = 0;                // of each batch's waits on the CPU before submission
  int32_t depth = 2;                     // batches asked for ahead of the one that is handed out
  bool reads_ahead = false;              // a thread of the stream calls the producer
};

void to_device(ArrowDeviceArrayStream& moved, device::Device& to, const MoveOptions& options,
               ArrowDeviceArrayStream* out);

// As to_device() the CPU; each array is complete.
void to_host(ArrowDeviceArrayStream& moved, const MoveOptions& options, ArrowArrayStream* out);

}  // namespace arrowdevice::stream
