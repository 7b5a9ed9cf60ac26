// SPDX-License-Identifier: Apache-2.0
// Converts the regions of the backend table to copies for the driver.
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

// Throws EINVAL for device memory that the context does not know, or that is too small for the region. Otherwise a
// driver would treat the address as host memory.
std::vector<Piece> check_pieces(const Device& device, std::span<const arrowdevice_backend_region> regions);

}  // namespace arrowdevice::level_zero
