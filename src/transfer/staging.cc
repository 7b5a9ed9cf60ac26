// SPDX-License-Identifier: Apache-2.0
#include "transfer/staging.h"

#include <algorithm>

#include "base/checked.h"
#include "device/devices.h"

namespace arrowdevice::transfer {
namespace {

constexpr int64_t kLargestPiece = 4 << 20;
constexpr int64_t kSmallestPiece = 256 << 10;
constexpr int64_t kPiecesOfACopy = 32;
constexpr int64_t kPageBytes = 4096;  // devices prefer copies that begin at an aligned address

}  // namespace

device::Allocation allocate_staging(device::Device& device, int64_t size) {
  auto& devices = device::Devices::instance();
  auto& host = has_pinned_staging(device) ? devices.get(device.info().staging_type, device.id()) : devices.cpu();
  return host.pool()->allocate(nullptr, size);
}

bool has_pinned_staging(const device::Device& device) {
  const ArrowDeviceType type = device.info().staging_type;
  // A wrapped device may have an id that no pinned memory has. Plain memory is used then.
  return type != 0 && device.id() >= 0 && device.id() < device::Devices::instance().count(type);
}

int64_t staged_piece_bytes(int64_t total) {
  return std::min(total, align_up(std::clamp(total / kPiecesOfACopy, kSmallestPiece, kLargestPiece), kPageBytes));
}

void StagedPieces::next(void* memory, StagedPiece& out) {
  out.in.clear();
  out.out.clear();
  for (int64_t filled = 0; !at_end() && filled < piece_bytes_;) {
    const auto portion = walk_.take(piece_bytes_ - filled);
    out.in.push_back({nullptr, memory, filled, portion.src_device, portion.src, portion.src_offset, portion.size, 0});
    out.out.push_back({portion.dst_device, portion.dst, portion.dst_offset, nullptr, memory, filled, portion.size, 0});
    filled += portion.size;
  }
}

}  // namespace arrowdevice::transfer
