// SPDX-License-Identifier: Apache-2.0
// Staging memory: host memory that copies pass through, and their pieces.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/regions.h"
#include "device/device.h"
#include "device/pool.h"

namespace arrowdevice::transfer {

// Allocates host memory for fast copies with the device: its pinned memory if it has some, else plain memory.
device::Allocation allocate_staging(device::Device& device, int64_t size);

// Returns true if allocate_staging() returns pinned memory.
bool has_pinned_staging(const device::Device& device);

// Returns the piece size for a copy of `total` > 0 bytes. A piece is large enough to hide a link's latency. It is small
// enough that the first piece arrives soon, because the second link is idle until then.
int64_t staged_piece_bytes(int64_t total);

// A piece of a copy: the regions to the staging memory, and the regions from it.
struct StagedPiece {
  std::vector<arrowdevice_backend_region> in;
  std::vector<arrowdevice_backend_region> out;

  bool is_empty() const noexcept { return in.empty(); }
};

// Divides regions into pieces of one size.
class StagedPieces {
 public:
  StagedPieces(std::span<const arrowdevice_backend_region> regions, int64_t piece_bytes)
      : walk_(regions), piece_bytes_(piece_bytes) {}

  bool at_end() const noexcept { return walk_.at_end(); }

  // Sets `out` to the next piece, through `memory`, which has at least a piece's size of host memory. The piece is
  // empty at the end.
  void next(void* memory, StagedPiece& out);

 private:
  RegionWalk walk_;
  const int64_t piece_bytes_;
};

}  // namespace arrowdevice::transfer
