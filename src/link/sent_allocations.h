// SPDX-License-Identifier: Apache-2.0
// The allocations that a client keeps open. Each is sent once, and later batches name it by its id.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/file_descriptor.h"
#include "device/device.h"
#include "link/handle_message.h"

namespace arrowdevice::link {

// Not thread-safe.
class SentAllocations {
 public:
  // Returns the client's id of an allocation. Adds the allocation to the message, and its descriptor to the list, if
  // the client does not have it.
  int64_t id_of(device::Device& device, const device::ShareableBlock& block, HandleMessage& message,
                std::vector<FileDescriptor>& descriptors);

  // Removes the allocations of a device that were freed, and returns their ids. As long as the client has them open,
  // their pages stay in use.
  std::vector<int64_t> remove_freed(const device::Device& device);

 private:
  struct Sent {
    const device::Device* device;
    device::ShareableBlock block;
  };

  std::map<int64_t, Sent> sent_;                     // by the id
  std::unordered_map<uint64_t, int64_t> ids_;        // by the number of the block
  std::map<const device::Device*, uint64_t> freed_;  // how many allocations each device had freed
  int64_t next_id_ = 0;
};

}  // namespace arrowdevice::link
