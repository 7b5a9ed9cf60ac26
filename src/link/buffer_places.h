// SPDX-License-Identifier: Apache-2.0
// The places of an array's buffers in allocations that other processes can open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "link/handle_message.h"
#include "schema/binding.h"

namespace arrowdevice::link {

struct BufferPlaces {
  std::vector<device::ShareableBlock> allocations;
  std::vector<MessageNode> nodes;
  std::vector<MessageBuffer> buffers;
};

// Returns why other processes cannot open the array, with the path of the first field that they cannot open. Returns
// nullopt and fills `out` if they can. `sizes` are the bytes of all buffers.
std::optional<std::string> find_places(const schema::Binding& array, const device::Device& device,
                                       std::span<const int64_t> sizes, BufferPlaces& out);

}  // namespace arrowdevice::link
