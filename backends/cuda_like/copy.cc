// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/copy.h"

#include <vector>

#include "cuda_like/device.h"

namespace arrowdevice::cuda_like {
namespace {

using Region = arrowdevice_backend_region;

Piece piece_of(const Region& region) {
  return {.to = static_cast<char*>(region.dst) + region.dst_offset,
          .from = static_cast<const char*>(region.src) + region.src_offset,
          .size = region.size};
}

// Returns the GPU that owns the memory, or NULL for memory that every GPU can access.
Gpu* owner(void* device_handle) {
  auto* const device = static_cast<Device*>(device_handle);
  return device != nullptr && device->kind == MemoryKind::kDevice ? &device->gpu : nullptr;
}

// Prefetches managed memory that a queue writes, because its GPU then does not fetch the pages one by one.
void prefetch_target(Driver& driver, const Gpu& gpu, const Region& region, const Piece& piece, Stream stream) {
  const auto* const device = static_cast<const Device*>(region.dst_device);
  const bool is_managed = device != nullptr && device->kind == MemoryKind::kManaged;
  if (!is_managed || !gpu.properties().shares_managed_memory) return;
  driver.prefetch(piece.to, piece.size, gpu.ordinal(), stream);
}

// Checks if the driver can access an address directly: its own memory, or pinned memory.
class Pinned {
 public:
  explicit Pinned(Driver& driver) : driver_(driver) {}

  bool has(void* device_handle, const void* address, int64_t size) {
    if (device_handle != nullptr || is_in_last(address, size)) return true;
    const auto facts = driver_.find_pointer(address);
    if (!facts) return false;
    last_ = *facts;
    return true;
  }

 private:
  // Consecutive regions often lie in one block.
  bool is_in_last(const void* address, int64_t size) const {
    const auto start = reinterpret_cast<uintptr_t>(last_.base);
    const auto at = reinterpret_cast<uintptr_t>(address);
    return last_.size > 0 && at >= start &&
           at - start + static_cast<uintptr_t>(size) <= static_cast<uintptr_t>(last_.size);
  }

  Driver& driver_;
  PointerFacts last_{.kind = MemoryKind::kPinned, .ordinal = 0, .base = nullptr, .size = 0};
};

void copy_between(Driver& driver, Gpu& to, Gpu& from, const Piece& piece, Stream stream) {
  driver.copy_peer(piece, to.ordinal(), to.context(), from.ordinal(), from.context(), stream);
}

}  // namespace

void copy_regions(Driver& driver, Gpu& gpu, Stream stream, std::span<const Region> regions) {
  std::vector<Piece> batch;
  const bool takes_batches = regions.size() > 1 && driver.takes_batches(stream);
  Pinned pinned(driver);
  for (const Region& region : regions) {
    const Piece piece = piece_of(region);
    prefetch_target(driver, gpu, region, piece, stream);
    Gpu* const to = owner(region.dst_device);
    Gpu* const from = owner(region.src_device);
    const bool is_within = (to == nullptr || to == &gpu) && (from == nullptr || from == &gpu);
    if (!is_within && to != nullptr && from != nullptr) {
      copy_between(driver, *to, *from, piece, stream);
    } else if (is_within && takes_batches && pinned.has(region.dst_device, piece.to, piece.size) &&
               pinned.has(region.src_device, piece.from, piece.size)) {
      batch.push_back(piece);
    } else {
      driver.copy(piece, stream);
    }
  }
  if (batch.size() == 1) {
    driver.copy(batch.front(), stream);
  } else if (!batch.empty()) {
    driver.copy_batch(batch, stream);
  }
}

}  // namespace arrowdevice::cuda_like
