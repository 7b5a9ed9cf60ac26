// SPDX-License-Identifier: Apache-2.0
#include "transfer/source_reader.h"

#include <algorithm>
#include <cerrno>

#include "base/checked.h"
#include "transfer/early_end.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

constexpr int64_t kPieceAlignment = 16;

// A driver needs longer for a call than for this many bytes.
constexpr int64_t kLargestReadGap = 64 << 10;
// The bytes between pieces that one submission reads back in addition.
constexpr int64_t kMostGaps = 4 << 20;

}  // namespace

size_t SourceReader::PieceHash::operator()(const Piece& piece) const noexcept {
  auto hash = reinterpret_cast<uint64_t>(piece.buffer);
  for (const int64_t part : {piece.offset, piece.size}) {
    hash = (hash ^ static_cast<uint64_t>(part)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

const uint8_t* SourceReader::find(const void* buffer, int64_t offset, int64_t size) {
  if (in_place()) return static_cast<const uint8_t*>(buffer) + offset;
  const Piece piece{buffer, offset, size};
  const auto [known, is_new] = known_.try_emplace(piece, nullptr);
  if (is_new) pending_reads_.push_back(piece);
  return known->second;
}

// Sorts the pending reads by address, and joins reads that are close to each other in one allocation.
std::vector<SourceReader::Range> SourceReader::merge_pending() {
  std::vector<Range> ranges;
  ranges.reserve(pending_reads_.size());
  if (source_->has_addresses()) std::ranges::sort(pending_reads_, {}, address_of);
  Neighbours neighbours(*source_, kLargestReadGap);
  int64_t gaps = 0;
  for (size_t i = 0; i < pending_reads_.size(); ++i) {
    const Piece& piece = pending_reads_[i];
    if (i > 0 && source_->has_addresses()) {
      auto& last = ranges.back();
      const char* const begin = address_of(pending_reads_[last.first]);
      const int64_t gap = neighbours.gap(begin, last.size, address_of(piece), piece.size);
      if (gap >= 0 && gaps + gap <= kMostGaps) {
        gaps += gap;
        last.size += gap + piece.size;
        last.end = i + 1;
        continue;
      }
    }
    ranges.push_back({i, i + 1, piece.size});
  }
  return ranges;
}

void SourceReader::read_back() {
  // Waits for the producer first, because a wait that ends then has nothing to leave behind.
  if (deadline_->has_limit()) {
    event_->wait(deadline_->left());
    if (is_queue_given_ && queue_->has_work_of_others()) queue_->finish_in_time(*deadline_);
  }
  const auto ranges = merge_pending();
  int64_t total = 0;
  for (const auto& range : ranges) total = checked_add(align_up(total, kPieceAlignment), range.size);
  auto block = allocate_staging(*source_, total);
  auto* const bytes = static_cast<uint8_t*>(block.buffer());
  std::vector<arrowdevice_backend_region> regions;
  regions.reserve(ranges.size());
  int64_t place = 0;
  for (const auto& range : ranges) {
    place = align_up(place, kPieceAlignment);
    const Piece& first = pending_reads_[range.first];
    regions.push_back({nullptr, bytes, place, source_->handle(), first.buffer, first.offset, range.size, 0});
    for (size_t i = range.first; i < range.end; ++i) {
      const Piece& piece = pending_reads_[i];
      known_[piece] = bytes + place + (i == range.first ? 0 : address_of(piece) - address_of(first));
    }
    place += range.size;
  }
  blocks_->allocations.push_back(std::move(block));
  try {
    queue_->copy(regions);
    device::Counters::add(source_->counters().readbacks, 1);
    if (&queue_->device() != source_) device::Counters::add(source_->counters().bytes_out, bytes_of(regions));
    if (!queue_->record()->wait(deadline_->left())) throw Error(ETIMEDOUT, "reading back offsets is not done in time");
  } catch (const Error& error) {
    if (!(ends_early(error, *deadline_) && leave_running()) && !queue_->drain()) {
      device::DeferredWork::abandon(std::move(blocks_));
    }
    throw;
  } catch (...) {
    if (!queue_->drain()) device::DeferredWork::abandon(std::move(blocks_));
    throw;
  }
  pending_reads_.clear();
}

// Lets the submitted reads run, with their memory and the source. Returns false if that is not possible.
bool SourceReader::leave_running() noexcept {
  try {
    blocks_->source = hold(moved_);
    blocks_->use.emplace(*source_);
    blocks_->after = queue_->record();
  } catch (...) {
    return false;
  }
  device::DeferredWork::instance().defer(std::move(blocks_));
  return true;
}

bool variadic_sizes_on_host(const schema::Binding& array, const device::Device& source) {
  if (!source.has_addresses()) return false;
  if (source.is_host_readable()) return true;
  for (int32_t field = 0; field < array.tree().size(); ++field) {
    if (array.n_variadic(field) == 0) continue;
    const auto info = source.pointer_info(array.buffers(field).back());  // one producer made all variadic buffers
    return !info || (info->flags & ARROWDEVICE_POINTER_HOST_READABLE) != 0;
  }
  return true;
}

}  // namespace arrowdevice::transfer
