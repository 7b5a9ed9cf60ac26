// SPDX-License-Identifier: Apache-2.0
// The buffers of a handle in this process: over the memory of the owner process, or over a copy of it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "array/output.h"
#include "device/device.h"
#include "link/handle_message.h"
#include "link/opened_memory.h"
#include "transfer/move.h"

namespace arrowdevice::link {

// Memory of the owner process.
struct OpenedAllocations final : array::BufferOwner {
  // The owner process may reuse the memory after `lease` is destroyed, which is after the memory is closed.
  OpenedAllocations(device::Device& its_device, std::shared_ptr<void> its_lease)
      : device(its_device), lease(std::move(its_lease)) {}
  ~OpenedAllocations() override;

  device::Device& device;
  const std::shared_ptr<void> lease;
  std::vector<std::shared_ptr<OpenedMemory>> allocations;
  std::vector<void*> sub_buffers;
};

struct Buffers {
  std::vector<const void*> pointers;  // of all buffers of the message; NULL for buffers without an allocation
  std::shared_ptr<array::BufferOwner> owner;
};

// Returns the buffers at the locations in the message, which are checked already.
Buffers buffers_of(std::shared_ptr<OpenedAllocations> opened, const HandleMessage& message);

// Copies all bytes of buffers, as they are, to memory that no other process can open.
Buffers copy_buffers(const Buffers& buffers, const HandleMessage& message, device::Device& device,
                     const transfer::CopyOptions& options);

}  // namespace arrowdevice::link
