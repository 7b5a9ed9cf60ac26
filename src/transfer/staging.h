// SPDX-License-Identifier: Apache-2.0
// Staging memory: host memory that bytes pass through on their way, and the pieces that pass through it.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/regions.h"
#include "device/device.h"
#include "device/pool.h"

namespace arrowdevice::transfer {

// Host memory from which the device copies fast: its pinned memory where it has such, else plain.
device::Allocation allocate_staging(device::Device& device, int64_t size);

// Whether that is pinned memory.
bool has_pinned_staging(const device::Device& device);

// Of a copy of `total` > 0 bytes: long enough that a link's latency does not matter, short enough that the first piece
// is there soon, since the second link stands still until then.
int64_t staged_piece_bytes(int64_t total);

// One piece on its way: to the staging memory, and from it.
struct StagedPiece {
  std::vector<arrowdevice_backend_region> in;
  std::vector<arrowdevice_backend_region> out;

  bool is_empty() const noexcept { return in.empty(); }
};

// Walks regions in pieces of one size.
class StagedPieces {
 public:
  StagedPieces(std::span<const arrowdevice_backend_region> regions, int64_t piece_bytes)
      : walk_(regions), piece_bytes_(piece_bytes) {}

  bool at_end() const noexcept { return walk_.at_end(); }

  // What comes next, by way of `memory`, at least a piece's bytes of host memory. Empty at the end.
  void next(void* memory, StagedPiece& out);

 private:
  RegionWalk walk_;
  const int64_t piece_bytes_;
};

}  // namespace arrowdevice::transfer
