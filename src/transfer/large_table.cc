// SPDX-License-Identifier: Apache-2.0
#include "transfer/large_table.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

bool is_made(const OutputBuffer& buffer) { return !buffer.on_host && buffer.origin == Origin::kMade; }

// Returns the bytes that come from the source.
int64_t copied_bytes(const OutputBuffer& buffer) { return buffer.on_host || is_made(buffer) ? 0 : buffer.size; }

}  // namespace

bool LargeTable::should_go_in_pieces() const {
  if (!may_go_through_pinned(route_.source(), route_.target()) || route_.stages_host_memory()) return false;
  CopyBytes bytes;
  for (const auto& buffer : buffers_) bytes.add(copied_bytes(buffer));
  if (!gains_from_pinned(route_, bytes)) return false;
  const auto largest = std::ranges::max_element(buffers_, {}, copied_bytes);
  return kind_of(route_, largest->source) == HostMemory::kPageable;
}

bool LargeTable::copy_in_pieces(const Deadline& deadline, InFlight& in_flight) {
  allocate_made(in_flight);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (!buffers_[i].on_host) add(i);
  }
  if (!copy_through_pinned(route_, in_pieces_, deadline, in_flight)) {
    in_flight.staging.clear();
    return false;
  }
  device::Counters::add(route_.target().counters().staged_bytes, bytes_of(made_));
  route_.target_queue().copy(made_);
  return true;
}

// Allocates the staging memory for the buffers that the CPU makes.
void LargeTable::allocate_made(InFlight& in_flight) {
  int64_t bytes = 0;
  for (const auto& buffer : buffers_) bytes += is_made(buffer) ? buffer.padded_end() - buffer.offset : 0;
  if (bytes == 0) return;
  in_flight.staging.push_back(allocate_staging(route_.target(), bytes));
  stage_ = static_cast<uint8_t*>(in_flight.staging.back().buffer());
}

// Adds a buffer, and zeros up to the next one. A large buffer that the CPU makes is copied from where it was made.
void LargeTable::add(size_t i) {
  const auto& buffer = buffers_[i];
  if (!is_made(buffer)) {
    in_pieces_.push_back(region_of(buffer, route_, target_));
    return add_zeros(buffer.end(), next_begin(i));
  }
  const Region made = make(buffer);
  (made.size > kSmallPieceBytes ? made_ : in_pieces_).push_back(made);
  add_zeros(buffer.padded_end(), next_begin(i));
}

// Writes a buffer and its padding to the staging memory.
LargeTable::Region LargeTable::make(const OutputBuffer& buffer) {
  const int64_t bytes = buffer.padded_end() - buffer.offset;
  const int64_t at = std::exchange(staged_, staged_ + bytes);
  write_buffer(array_, plan_, buffer, stage_ + at);
  std::memset(stage_ + at + buffer.size, 0, static_cast<size_t>(bytes - buffer.size));
  return {route_.target_handle(), target_, buffer.offset, nullptr, stage_, at, bytes, 0};
}

// Returns the offset of the next buffer. Returns the end of the padding if that buffer is not close, or if there is
// none.
int64_t LargeTable::next_begin(size_t i) const {
  const auto rest = buffers_.subspan(i + 1);
  const auto next = std::ranges::find(rest, false, &OutputBuffer::on_host);
  const bool is_close = next != rest.end() && next->offset - buffers_[i].end() <= kLargestGap;
  return is_close ? next->offset : buffers_[i].padded_end();
}

void LargeTable::add_zeros(int64_t begin, int64_t end) {
  static constexpr uint8_t kZeros[kLargestGap] = {};
  if (begin == end) return;
  in_pieces_.push_back({route_.target_handle(), target_, begin, nullptr, kZeros, 0, end - begin, 0});
}

}  // namespace arrowdevice::transfer
