// SPDX-License-Identifier: Apache-2.0
// The locations of an array's buffers in allocations that other processes can open.
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

struct BufferLocations {
  std::vector<device::ShareableBlock> allocations;
  std::vector<MessageNode> nodes;
  std::vector<MessageBuffer> buffers;
};

// Returns the first reason why another process cannot open the array, with the path of the field. If it can, returns
// nullopt and fills `out`. `sizes` are the bytes of all buffers.
std::optional<std::string> locate_buffers(const schema::Binding& array, const device::Device& device,
                                          std::span<const int64_t> sizes, BufferLocations& out);

}  // namespace arrowdevice::link
