// SPDX-License-Identifier: Apache-2.0
// Arrays over memory of other processes.
#pragma once

#include <arrowdevice/abi.h>

#include <memory>

#include "device/device.h"
#include "link/handle_message.h"
#include "link/opened_buffers.h"
#include "schema/tree.h"
#include "transfer/move.h"

namespace arrowdevice::link {

// Finds the device of a message by its UUID. Opens no more devices than necessary. Throws ENODEV if this process does
// not see the device.
device::Device& find_device(const HandleMessage& message);

// Makes the array of a message, whose allocations are open. Checks all numbers of the message.
void open_array(const schema::Tree& tree, const HandleMessage& message, std::shared_ptr<OpenedAllocations> opened,
                const transfer::CopyOptions& options, ArrowDeviceArray* out);

}  // namespace arrowdevice::link
