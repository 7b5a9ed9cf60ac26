// SPDX-License-Identifier: Apache-2.0
// Streams of a server in another process.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>

#include "device/device.h"
#include "link/address.h"
#include "transfer/move.h"

namespace arrowdevice::link {

struct ConnectOptions {
  bool any_user = false;
  int64_t batches = 0;  // limit of those that were sent and not taken
  int64_t bytes = 0;    // of these
  int64_t timeout_ns = 0;
  transfer::CopyOptions copy;
};

// Connects to a server. `to` is the device of the batches, or NULL if they stay where the server has them.
void connect_stream(const Address& address, device::Device* to, const ConnectOptions& options,
                    ArrowDeviceArrayStream* out);

}  // namespace arrowdevice::link
