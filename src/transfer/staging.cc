// SPDX-License-Identifier: Apache-2.0
#include "transfer/staging.h"

#include <algorithm>
#include <iterator>

#include "base/checked.h"
#include "device/devices.h"

namespace arrowdevice::transfer {
namespace {

constexpr int64_t kLargestPiece = 4 << 20;
constexpr int64_t kSmallestPiece = 256 << 10;
constexpr int64_t kPiecesOfACopy = 32;
// Staging memory comes in few sizes, so that a copy finds memory of earlier copies. A driver needs long to allocate
// such memory, and may wait for the device's work. Larger memory has the size that is asked for.
constexpr int64_t kBlockSizes[] = {64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20};
constexpr int64_t kPageBytes = 4096;  // devices prefer copies that begin at an aligned address

// A wrapped device may have an id that no pinned memory has.
bool has_pinned_device(const device::Device& device) {
  const ArrowDeviceType type = device.info().staging_type;
  if (device.pinned_device() != nullptr) return true;
  return type != 0 && device.id() >= 0 && device.id() < device::Devices::instance().count(type);
}

int64_t block_size(int64_t size) {
  const auto* const block = std::ranges::lower_bound(kBlockSizes, size);
  return block != std::end(kBlockSizes) ? *block : size;
}

device::Allocation allocate_plain(int64_t size) {
  return device::Devices::instance().cpu().private_pool()->allocate(nullptr, size, device::Holder::kStaging);
}

// Returns true if a portion at `staged` of the staging memory continues a region from that memory.
bool is_adjacent(const arrowdevice_backend_region& last, const arrowdevice_backend_region& portion, int64_t staged) {
  return last.dst == portion.dst && last.dst_device == portion.dst_device &&
         last.dst_offset + last.size == portion.dst_offset && last.src_offset + last.size == staged;
}

// Returns false if the driver cannot tell.
bool knows(const device::Device& device, const void* memory) {
  try {
    return device.pointer_info(memory).has_value();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

device::Allocation allocate_staging(device::Device& device, int64_t size) {
  if (has_pinned_device(device)) {
    device::Device* pinned = device.pinned_device();
    if (pinned == nullptr) {
      pinned = &device::Devices::instance().get(device.info().staging_type, device.id());
      device.set_pinned_device(*pinned);
    }
    return pinned->private_pool()->allocate(nullptr, block_size(size), device::Holder::kStaging);
  }
  return device.has_staging_memory()
             ? device.staging_pool()->allocate(nullptr, block_size(size), device::Holder::kStaging)
             : allocate_plain(size);
}

device::Allocation allocate_staging_between(device::Device& source, device::Device& target, int64_t size) {
  auto staging = allocate_staging(target, size);
  const bool may_be_unusable = !has_pinned_device(target) && target.has_staging_memory() &&
                               &source.backend() == &target.backend() && !knows(source, staging.buffer());
  return may_be_unusable ? allocate_plain(size) : std::move(staging);
}

bool has_pinned_staging(const device::Device& device) {
  return has_pinned_device(device) || device.has_staging_memory();
}

int64_t staged_piece_bytes(int64_t total) {
  return std::min(total, align_up(std::clamp(total / kPiecesOfACopy, kSmallestPiece, kLargestPiece), kPageBytes));
}

bool Neighbours::is_in_known_block(const void* begin, const void* end) const noexcept {
  return begin >= begin_ && end <= end_;
}

void Neighbours::ask(const void* address) {
  std::optional<arrowdevice_pointer_info> info;
  if (device_.has_addresses()) info = device_.pointer_info(address);
  is_unknown_ = !info || info->base == nullptr || info->size <= 0;
  if (is_unknown_) return;
  begin_ = static_cast<const char*>(info->base);
  end_ = begin_ + info->size;
}

int64_t Neighbours::gap(const void* first, int64_t first_size, const void* second, int64_t second_size) {
  const auto* const first_end = static_cast<const char*>(first) + first_size;
  const auto* const end = static_cast<const char*>(second) + second_size;
  if (is_unknown_ || second < first_end || static_cast<const char*>(second) - first_end > largest_gap_) return -1;
  if (!is_in_known_block(first, end)) ask(first);
  if (is_unknown_ || !is_in_known_block(first, end)) return -1;
  return static_cast<const char*>(second) - first_end;
}

int64_t StagedPieces::gap_before(const StagedPiece& piece, const arrowdevice_backend_region& portion) {
  if (!neighbours_ || piece.in.empty() || piece.in.back().src_device != portion.src_device) return -1;
  const auto& last = piece.in.back();
  return neighbours_->gap(static_cast<const char*>(last.src) + last.src_offset, last.size,
                          static_cast<const char*>(portion.src) + portion.src_offset, portion.size);
}

void StagedPieces::next(void* memory, StagedPiece& out) {
  out.in.clear();
  out.out.clear();
  for (int64_t filled = 0; !at_end() && filled < piece_bytes_;) {
    const int64_t gap = gap_before(out, walk_.rest());
    filled += std::max<int64_t>(gap, 0);
    if (filled >= piece_bytes_) break;
    const auto portion = walk_.take(piece_bytes_ - filled);
    if (gap >= 0) {
      out.in.back().size += gap + portion.size;
    } else {
      out.in.push_back({nullptr, memory, filled, portion.src_device, portion.src, portion.src_offset, portion.size, 0});
    }
    if (!out.out.empty() && is_adjacent(out.out.back(), portion, filled)) {
      out.out.back().size += portion.size;
    } else {
      out.out.push_back(
          {portion.dst_device, portion.dst, portion.dst_offset, nullptr, memory, filled, portion.size, 0});
    }
    filled += portion.size;
  }
}

}  // namespace arrowdevice::transfer
