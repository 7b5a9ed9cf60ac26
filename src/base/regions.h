// SPDX-License-Identifier: Apache-2.0
// Walks the regions of a copy in portions, copies them on the CPU, and lists regions of zeros.
#pragma once

#include <arrowdevice/backend.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"

namespace arrowdevice {

// Copies a region in host memory.
inline void copy_on_host(const arrowdevice_backend_region& region) {
  std::memcpy(static_cast<char*>(region.dst) + region.dst_offset,
              static_cast<const char*>(region.src) + region.src_offset, static_cast<size_t>(region.size));
}

inline int64_t bytes_of(std::span<const arrowdevice_backend_region> regions) noexcept {
  int64_t bytes = 0;
  for (const auto& region : regions) bytes += region.size;
  return bytes;
}

// Throws EINVAL if a region of a batch exceeds the `capacity` bytes of a buffer at either end.
inline void check_region_bounds(int64_t region, int64_t offset, int64_t size, int64_t capacity) {
  if (offset >= 0 && size >= 0 && offset <= capacity && size <= capacity - offset) [[likely]]
    return;
  throw Error(EINVAL, format("region %lld: %lld bytes at offset %lld are not within a buffer of %lld bytes",
                             static_cast<long long>(region), static_cast<long long>(size),
                             static_cast<long long>(offset), static_cast<long long>(capacity)));
}

// Largest size of the host memory of zeros that regions_of_zeros() reads.
inline constexpr int64_t kZeroBlockBytes = int64_t{1} << 20;

// Returns regions that fill the first `size` bytes of a device's memory with zeros. They all read the same block of
// min(size, kZeroBlockBytes) zeros in host memory.
inline std::vector<arrowdevice_backend_region> regions_of_zeros(void* device, void* memory, int64_t size,
                                                                const void* zeros) {
  std::vector<arrowdevice_backend_region> regions;
  for (int64_t at = 0; at < size; at += kZeroBlockBytes) {
    arrowdevice_backend_region region{};
    region.dst_device = device;
    region.dst = memory;
    region.dst_offset = at;
    region.src = zeros;
    region.size = std::min(size - at, kZeroBlockBytes);
    regions.push_back(region);
  }
  return regions;
}

// Borrows the regions. Not thread-safe.
class RegionWalk {
 public:
  explicit RegionWalk(std::span<const arrowdevice_backend_region> regions) : regions_(regions) {}

  bool at_end() const noexcept { return next_ == regions_.size(); }

  // Returns the rest of the current region. Must not be called at the end.
  arrowdevice_backend_region rest() const noexcept {
    arrowdevice_backend_region portion = regions_[next_];
    portion.dst_offset += done_;
    portion.src_offset += done_;
    portion.size -= done_;
    return portion;
  }

  // Returns the next bytes of the current region, at most `most` > 0 bytes. Must not be called at the end.
  arrowdevice_backend_region take(int64_t most) noexcept {
    arrowdevice_backend_region portion = rest();
    portion.size = std::min(portion.size, most);
    done_ += portion.size;
    if (done_ == regions_[next_].size) {
      ++next_;
      done_ = 0;
    }
    return portion;
  }

 private:
  std::span<const arrowdevice_backend_region> regions_;
  size_t next_ = 0;
  int64_t done_ = 0;  // bytes of the current region that are taken
};

}  // namespace arrowdevice
