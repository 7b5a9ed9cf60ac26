// SPDX-License-Identifier: Apache-2.0
// Async streams: as a producer, as a consumer, and as a stage between two that puts arrays on another device.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/queue.h"
#include "stream/executor.h"
#include "transfer/move.h"

namespace arrowdevice::stream {

using GetMetadata = const char* (*)(void* user, int32_t kind);

struct AsyncOptions {
  int32_t depth = 4;            // number of arrays requested ahead
  int32_t upstream_layout = 0;  // ARROWDEVICE_ASYNC_LAYOUT_*
  transfer::CopyOptions copy;   // all options but the queue
  std::shared_ptr<device::Queue> queue;
  std::unique_ptr<Executor> executor;
  GetMetadata get_metadata = nullptr;  // of the program, with `user`
  void* user = nullptr;
};

// Calls the handler with the stream's arrays. Takes ownership of both on success.
void produce(ArrowDeviceArrayStream& moved, ArrowAsyncDeviceStreamHandler& handler, AsyncOptions options);

// Returns a handler for a producer to call, and sets `out` to the stream of the arrays that the handler gets.
ArrowAsyncDeviceStreamHandler* collect(ArrowDeviceType type, const AsyncOptions& options, ArrowDeviceArrayStream* out);

// Returns a handler for a producer to call, which passes the arrays to `downstream` on another device. Takes ownership
// of `downstream` on success.
ArrowAsyncDeviceStreamHandler* to_device(ArrowAsyncDeviceStreamHandler& downstream, device::Device& to,
                                         AsyncOptions options);

}  // namespace arrowdevice::stream
