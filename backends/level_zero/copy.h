// SPDX-License-Identifier: Apache-2.0
// A batch of regions, as the table gets it, as what the driver is asked to copy.
#pragma once

#include <arrowdevice/backend.h>

#include <cstddef>
#include <span>
#include <vector>

#include "level_zero/device.h"

namespace arrowdevice::level_zero {

struct Piece {
  void* to;
  const void* from;
  size_t size;
};

// Throws EINVAL for memory of a device that the context does not know, or that is smaller than what is asked of it: a
// driver would take the address for the host's.
std::vector<Piece> check_pieces(const Device& device, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::level_zero
