// SPDX-License-Identifier: Apache-2.0
// Staging memory: host memory that copies pass through, and their pieces.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/regions.h"
#include "device/device.h"
#include "device/pool.h"

namespace arrowdevice::transfer {

// Allocates host memory for fast copies with the device: its pinned memory, else the staging memory of its backend,
// else plain memory.
device::Allocation allocate_staging(device::Device& device, int64_t size);

// Does the same for copies from `source` through the memory to `target`. Returns plain memory if the source's driver
// does not know the target's memory, because the two devices may be in two contexts of one driver.
device::Allocation allocate_staging_between(device::Device& source, device::Device& target, int64_t size);

// Returns true if allocate_staging() returns memory that the driver knows.
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

// The most bytes between two regions that are copied as one. Many producers align their buffers to this size.
inline constexpr int64_t kLargestGap = 256;

// Finds regions of a device that can be copied as one, with the few bytes between them.
class Neighbours {
 public:
  explicit Neighbours(const device::Device& device, int64_t largest_gap = kLargestGap)
      : device_(device), largest_gap_(largest_gap) {}

  // Returns the number of bytes between two ranges of one allocation. Returns -1 if the second range is not close
  // behind the first one, or if the driver does not know their allocation. Remembers the allocation that the driver
  // told last.
  int64_t gap(const void* first, int64_t first_size, const void* second, int64_t second_size);

 private:
  bool is_in_known_block(const void* begin, const void* end) const noexcept;
  void ask(const void* address);

  const device::Device& device_;
  const int64_t largest_gap_;
  const char* begin_ = nullptr;  // of the allocation that the driver told last
  const char* end_ = nullptr;
  bool is_unknown_ = false;
};

// Divides regions into pieces of one size.
class StagedPieces {
 public:
  // Regions that are adjacent in the target become one region from the staging memory. With `neighbours`, close regions
  // of the source become one region to the staging memory.
  StagedPieces(std::span<const arrowdevice_backend_region> regions, int64_t piece_bytes,
               std::optional<Neighbours> neighbours = std::nullopt)
      : walk_(regions), piece_bytes_(piece_bytes), neighbours_(neighbours) {}

  bool at_end() const noexcept { return walk_.at_end(); }

  // Sets `out` to the next piece, through `memory`, which has at least a piece's size of host memory. The piece is
  // empty at the end.
  void next(void* memory, StagedPiece& out);

 private:
  // Returns the bytes between the last region of the piece and the portion, or -1 if they are not close.
  int64_t gap_before(const StagedPiece& piece, const arrowdevice_backend_region& portion);

  RegionWalk walk_;
  const int64_t piece_bytes_;
  std::optional<Neighbours> neighbours_;
};

}  // namespace arrowdevice::transfer
