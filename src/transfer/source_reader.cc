// SPDX-License-Identifier: Apache-2.0
#include "transfer/source_reader.h"

#include "base/checked.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

constexpr int64_t kPieceAlignment = 16;

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

void SourceReader::read_back() {
  // After the submission, the copies must be waited for without limit. A wait that may time out therefore comes before.
  if (deadline_->has_limit()) {
    event_->wait(deadline_->left());
    if (is_queue_given_ && queue_->has_work_of_others()) queue_->finish_in_time(*deadline_);
  }
  int64_t total = 0;
  for (const auto& piece : pending_reads_) total = checked_add(align_up(total, kPieceAlignment), piece.size);
  auto block = allocate_staging(*source_, total);
  auto* const bytes = static_cast<uint8_t*>(block.buffer());
  std::vector<arrowdevice_backend_region> regions;
  regions.reserve(pending_reads_.size());
  int64_t place = 0;
  for (const auto& piece : pending_reads_) {
    place = align_up(place, kPieceAlignment);
    regions.push_back({nullptr, bytes, place, source_->handle(), piece.buffer, piece.offset, piece.size, 0});
    known_[piece] = bytes + place;
    place += piece.size;
  }
  blocks_->allocations.push_back(std::move(block));
  try {
    queue_->copy(regions);
    device::Counters::add(source_->counters().readbacks, 1);
    if (&queue_->device() != source_) device::Counters::add(source_->counters().bytes_out, bytes_of(regions));
    queue_->record()->wait(ARROWDEVICE_NO_TIMEOUT);
  } catch (...) {
    if (!queue_->drain()) device::DeferredWork::abandon(std::move(blocks_));
    throw;
  }
  pending_reads_.clear();
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
