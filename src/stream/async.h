// SPDX-License-Identifier: Apache-2.0
// Async streams: as a producer, as a consumer, and as the piece in between that moves to another device.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/queue.h"
#include "stream/executor.h"
#include "transfer/move.h"

namespace arrowdevice::stream {

struct AsyncOptions {
  int32_t depth = 4;            // arrays asked for ahead
  int32_t upstream_layout = 0;  // ARROWDEVICE_ASYNC_LAYOUT_*
  transfer::CopyOptions copy;   // but for the queue
  std::shared_ptr<device::Queue> queue;
  std::unique_ptr<Executor> executor;
};

// Calls the handler with what the stream gives. Takes both over on success.
void produce(ArrowDeviceArrayStream& moved, ArrowAsyncDeviceStreamHandler& handler, AsyncOptions options);

// A handler that a producer calls, and the stream of what it gets.
ArrowAsyncDeviceStreamHandler* collect(ArrowDeviceType type, const AsyncOptions& options, ArrowDeviceArrayStream* out);

// A handler that a producer calls, which hands everything on to `downstream` on another device. Takes that over on
// success.
ArrowAsyncDeviceStreamHandler* to_device(ArrowAsyncDeviceStreamHandler& downstream, device::Device& to,
                                         AsyncOptions options);

}  // namespace arrowdevice::stream
