// SPDX-License-Identifier: Apache-2.0
#include "transfer/pinned.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/parallel.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

constexpr int64_t kLeastBytesOfAThread = 4 << 20;
// Up to this many threads copy any large copy. More of them do if it is this many times as large as their staging
// memory.
constexpr int64_t kThreadsOfALargeCopy = 4;
constexpr int64_t kLeastCopiesOfStaging = 4;

device::Device& device_of(const Route& route) { return route.target_on_host() ? route.source() : route.target(); }

class PinnedCopy {
 public:
  // Each thread takes one of the blocks, which have kHalves pieces each.
  PinnedCopy(Route& route, std::span<const Region> regions, int64_t piece_bytes, std::span<uint8_t* const> blocks,
             const Deadline& deadline)
      : deadline_(deadline),
        queue_(route.target_queue()),
        is_to_host_(route.target_on_host()),
        piece_bytes_(piece_bytes),
        blocks_(blocks),
        pieces_(regions, piece_bytes, is_to_host_ ? std::optional<Neighbours>(route.source()) : std::nullopt) {}

  // Each thread alternates between two halves of staging memory: the link uses one half while the thread fills or
  // empties the other.
  static constexpr int64_t kHalves = 2;

  // Ends the waits of helper threads when it is true.
  std::atomic<bool>* give_up() noexcept { return &has_failed_; }

  // Copies one thread's share. Pieces may come in any order.
  void carry() {
    std::array<Half, kHalves> halves;
    uint8_t* memory = blocks_[next_block_++];
    for (auto& half : halves) half.memory = std::exchange(memory, memory + piece_bytes_);
    try {
      size_t turn = 0;
      for (;; turn = (turn + 1) % kHalves) {
        settle(halves[turn]);
        if (!begin(halves[turn])) break;
      }
      if (!is_to_host_) return;
      while (halves[turn = (turn + 1) % kHalves].on_link != nullptr) settle(halves[turn]);
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }

 private:
  struct Half {
    uint8_t* memory = nullptr;
    StagedPiece piece;
    std::shared_ptr<device::Event> on_link;  // fires when the link no longer uses the half
  };

  // Waits until the half is free.
  void settle(Half& half) {
    if (half.on_link == nullptr) return;
    if (!half.on_link->wait(deadline_.left())) throw Error(ETIMEDOUT, kLate);
    half.on_link = nullptr;
    if (is_to_host_) std::ranges::for_each(half.piece.out, copy_on_host);
  }

  // Submits the next piece to the link. Returns false if there is none.
  bool begin(Half& half) {
    {
      const std::lock_guard lock(mutex_);
      if (has_failed_ || pieces_.at_end()) return false;
      pieces_.next(half.memory, half.piece);
    }
    if (!is_to_host_) std::ranges::for_each(half.piece.in, copy_on_host);
    queue_.copy(is_to_host_ ? half.piece.in : half.piece.out);
    half.on_link = queue_.record();
    return true;
  }

  const Deadline& deadline_;
  device::Queue& queue_;
  const bool is_to_host_;
  const int64_t piece_bytes_;
  const std::span<uint8_t* const> blocks_;
  std::atomic<size_t> next_block_{0};
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  StagedPieces pieces_;  // guarded by the mutex
};

// The application's own queue may be another queue on each thread.
bool has_several_threads(const Route& route) {
  return !route.target_queue().is_wrapped() && parallel::copy_threads() > 1;
}

int64_t large_piece_bytes(int64_t total) { return std::max(staged_piece_bytes(total), kSmallPieceBytes); }

// A small piece also has room for the bytes between neighbours.
int64_t small_piece_bytes(int64_t total, size_t regions) {
  return std::min(total + static_cast<int64_t>(regions) * kLargestGap, kSmallPieceBytes);
}

int64_t threads_of(const Route& route, int64_t total, int64_t piece_bytes) {
  if (!has_several_threads(route)) return 1;
  const int64_t by_staging = total / kLeastCopiesOfStaging / (PinnedCopy::kHalves * piece_bytes);
  const int64_t most = std::min(total / kLeastBytesOfAThread, std::max(kThreadsOfALargeCopy, by_staging));
  return std::clamp<int64_t>(most, 1, parallel::copy_threads());
}

// Allocates a block of pinned memory for each thread. Returns fewer blocks if there is not enough memory.
std::vector<uint8_t*> allocate_blocks(const Route& route, int64_t threads, int64_t piece_bytes, InFlight& in_flight) {
  std::vector<uint8_t*> blocks;
  blocks.reserve(static_cast<size_t>(threads));
  try {
    for (int64_t i = 0; i < threads; ++i) {
      in_flight.staging.push_back(allocate_staging(device_of(route), PinnedCopy::kHalves * piece_bytes));
      blocks.push_back(static_cast<uint8_t*>(in_flight.staging.back().buffer()));
    }
  } catch (const Error&) {
    log(LogLevel::kInfo, kLacksPinned);
  }
  return blocks;
}

}  // namespace

bool may_go_through_pinned(const device::Device& source, const device::Device& target) {
  return source.is_cpu() != target.is_cpu() && has_pinned_staging(source.is_cpu() ? target : source);
}

void CopyBytes::add(int64_t buffer) noexcept {
  all += buffer;
  if (buffer <= kSmallPieceBytes) in_small += buffer;
}

bool gains_from_pinned(const Route& route, const CopyBytes& bytes) {
  if (bytes.all < kLeastThreadedBytes || !may_go_through_pinned(route.source(), route.target())) return false;
  return has_several_threads(route) || 2 * bytes.in_small >= bytes.all;
}

// Assumes that a driver that cannot tell copies as requested.
HostMemory kind_of(const Route& route, const void* host) noexcept {
  try {
    const auto info = device_of(route).pointer_info(host);
    if (!info) return HostMemory::kPageable;
    return info->device_type == ARROW_DEVICE_CPU ? HostMemory::kDirect : HostMemory::kPinned;
  } catch (const std::exception&) {
    return HostMemory::kPinned;
  }
}

bool copy_through_pinned(Route& route, std::span<const Region> regions, const Deadline& deadline, InFlight& in_flight) {
  const int64_t total = bytes_of(regions);
  const bool is_large = total >= kLeastThreadedBytes;
  const int64_t piece_bytes = is_large ? large_piece_bytes(total) : small_piece_bytes(total, regions.size());
  const auto blocks =
      allocate_blocks(route, is_large ? threads_of(route, total, piece_bytes) : 1, piece_bytes, in_flight);
  if (blocks.empty()) return false;
  in_flight.way = Way::kPinned;
  in_flight.reason = is_large && has_several_threads(route)
                         ? "several threads copy pageable memory faster than the driver"
                         : "the driver would wait for each buffer of pageable memory";
  device::Counters::add(device_of(route).counters().staged_bytes, total);
  PinnedCopy copy(route, regions, piece_bytes, blocks, deadline);
  parallel::run(
      static_cast<int>(blocks.size()), [&copy] { copy.carry(); }, device_of(route).info().numa_node, numa::kSysfs,
      copy.give_up());
  return true;
}

}  // namespace arrowdevice::transfer
