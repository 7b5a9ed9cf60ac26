// SPDX-License-Identifier: Apache-2.0
#include "transfer/submit.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "base/checked.h"
#include "base/log.h"
#include "transfer/large_table.h"
#include "transfer/pinned.h"
#include "transfer/staged.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

class Submission {
 public:
  Submission(const schema::Binding& array, const Plan& plan, const PlacedBuffers& placed, Route& route, void* target,
             InFlight* in_flight, const PaddedBuffers& source, const Deadline& deadline, Scratch& scratch)
      : array_(array),
        plan_(plan),
        buffers_(placed.buffers),
        route_(route),
        target_(target),
        in_flight_(in_flight),
        source_(source),
        deadline_(deadline),
        memory_(scratch.memory()),
        regions_(scratch.memory()),
        staged_regions_(scratch.memory()) {}

  bool run() {
    if (route_.target_on_host()) return to_host();
    to_device();
    return false;
  }

 private:
  // Submits a copy to host memory. The CPU writes the buffers that it makes directly; a queue copies the rest.
  bool to_host() {
    auto* const out = static_cast<uint8_t*>(target_);
    regions_.reserve(buffers_.size());
    for (const auto& buffer : buffers_) {
      if (buffer.on_host) continue;
      if (comes_padded(buffer)) {
        add_padded(buffer, regions_);
        continue;
      }
      // Clears the last block before the copy, so that the same number of bytes is cleared for every buffer.
      std::memset(out + ((buffer.end() - 1) & -kPaddedTo), 0, kPaddedTo);
      if (buffer.origin == Origin::kMade) {
        write_buffer(array_, plan_, buffer, out + buffer.offset);
      } else {
        regions_.push_back(copied(buffer));
      }
    }
    if (goes_through_pinned() && copy_through_pinned(route_, regions_, deadline_, *in_flight_)) return true;
    route_.target_queue().copy(regions_);
    return false;
  }

  // Returns true for a copy to pageable host memory that should pass through pinned memory: a large copy, or one that
  // the driver would wait for buffer by buffer.
  bool goes_through_pinned() const {
    if (route_.source_on_host() || regions_.empty()) return false;
    CopyBytes bytes;
    for (const auto& region : regions_) bytes.add(region.size);
    const bool is_small = bytes.all < kLeastThreadedBytes && may_go_through_pinned(route_.source(), route_.target());
    if (!is_small && !gains_from_pinned(route_, bytes)) return false;
    const HostMemory kind = kind_of(route_, target_);
    return kind == HostMemory::kPageable || (is_small && kind == HostMemory::kDirect);
  }

  // Submits a copy to a device. A large table in pageable memory passes in pieces. Otherwise, small host buffers and
  // buffers that the CPU makes are gathered in runs. Buffers that are adjacent in the target are adjacent in staging
  // memory too, and become one region.
  void to_device() {
    LargeTable table(array_, plan_, buffers_, route_, target_, memory_);
    if (table.should_go_in_pieces() && table.copy_in_pieces(deadline_, *in_flight_)) return;
    if (gathers_all()) largest_gathered_ = kSmallPieceBytes;
    const int64_t gathered = allocate_stage();
    if (stage_size_ > 0) {
      stage_ = static_cast<uint8_t*>(in_flight_->staging.back().buffer());
      std::memset(stage_ + gathered, 0, static_cast<size_t>(stage_size_ - gathered));
      zeros_ = gathered;
      device::Counters::add(route_.target().counters().staged_bytes, gathered);
    }
    for (size_t i = 0; i < buffers_.size();) {
      const auto& buffer = buffers_[i];
      if (buffer.on_host) {
        ++i;
      } else if (is_gathered(buffer)) {
        i = gather(i);
        // The link works while the CPU gathers the next run.
        if (i < buffers_.size() && unsubmitted_ >= kSmallPieceBytes && route_.source_on_host()) submit_staged();
      } else if (comes_padded(buffer)) {
        add_padded(buffer, regions_);
        ++i;
      } else {
        regions_.push_back(copied(buffer));
        pad(i++);
      }
    }
    if (regions_.empty() && stage_size_ > 0) note_gathered(route_, largest_gathered_ > kLargestGathered, *in_flight_);
    if (route_.is_staged() && !regions_.empty())
      return copy_staged(route_, regions_, staged_regions_, deadline_, *in_flight_);
    // A GPU needs much longer for small copies between large ones than for small copies after them.
    regions_.insert(regions_.end(), staged_regions_.begin(), staged_regions_.end());
    route_.target_queue().copy(regions_);
    count_direct();
  }

  void submit_staged() {
    route_.target_queue().copy(staged_regions_);
    staged_regions_.clear();
    unsubmitted_ = 0;
  }

  // Allocates the staging memory and returns the bytes that are gathered in it. Gathers small buffers only if there is
  // not enough pinned memory for more.
  int64_t allocate_stage() {
    for (;;) {
      const int64_t gathered = gathered_bytes();
      stage_size_ = gathered + (needs_zeros() ? kPaddedTo : 0);
      if (stage_size_ == 0 || !in_flight_->staging.empty()) return gathered;
      try {
        in_flight_->staging.push_back(allocate_staging(route_.target(), stage_size_));
        return gathered;
      } catch (const Error&) {
        if (largest_gathered_ == kLargestGathered) throw;
      }
      log(LogLevel::kInfo, kLacksPinned);
      largest_gathered_ = kLargestGathered;
    }
  }

  // Returns true if larger buffers of a small copy from pageable memory are gathered in pinned memory too. Asks the
  // driver about one buffer only, because gathering is right for any memory.
  bool gathers_all() const {
    if (!route_.source_on_host() || !has_pinned_staging(route_.target())) return false;
    const uint8_t* large = nullptr;
    int64_t bytes = 0;
    for (const auto& buffer : buffers_) {
      bytes += buffer.on_host ? 0 : buffer.size;
      if (!is_gathered(buffer) && !buffer.on_host) large = static_cast<const uint8_t*>(buffer.source);
    }
    return bytes < kLeastThreadedBytes && large != nullptr && kind_of(route_, large) != HostMemory::kPinned;
  }

  // Counts the bytes from a source that is not the queue's device. The queue has counted only the bytes of its own
  // device.
  void count_direct() {
    if (&route_.target_queue().device() == &route_.source()) return;
    for (const auto& region : regions_) {
      if (region.src_device != nullptr) device::Counters::add(route_.source().counters().bytes_out, region.size);
    }
  }

  bool is_gathered(const OutputBuffer& buffer) const {
    if (buffer.on_host) return false;
    if (buffer.origin == Origin::kMade || route_.stages_host_memory()) return true;
    return route_.source_on_host() && buffer.size <= largest_gathered_;
  }

  // Returns the end of the run of gathered buffers that begins at `first`, or `first` if that buffer is not gathered.
  // Buffers in host memory have no place in the target, so they do not end a run. If larger buffers are gathered too, a
  // run ends when it has the size of a piece.
  size_t run_end(size_t first) const {
    size_t end = first;
    for (size_t i = first; i < buffers_.size() && !is_full(first, end); ++i) {
      if (is_gathered(buffers_[i])) {
        end = i + 1;
      } else if (!buffers_[i].on_host) {
        break;
      }
    }
    return end;
  }

  bool is_full(size_t first, size_t end) const {
    return end > first && largest_gathered_ > kLargestGathered &&
           buffers_[end - 1].end() - buffers_[first].offset >= kSmallPieceBytes;
  }

  // Returns the offset in the target of the run that begins at `first`. It includes the padding of the buffer before,
  // if that is copied by itself.
  int64_t run_begin(size_t first) const {
    for (size_t i = first; i-- > 0;) {
      if (!buffers_[i].on_host) return has_padding(i) ? buffers_[i].end() : buffers_[first].offset;
    }
    return buffers_[first].offset;
  }

  int64_t run_bytes(size_t first, size_t end) const { return buffers_[end - 1].padded_end() - run_begin(first); }

  // Returns true if the buffer is copied by itself and has padding.
  bool has_padding(size_t i) const {
    const auto& buffer = buffers_[i];
    return !buffer.on_host && !is_gathered(buffer) && !comes_padded(buffer) && buffer.size % kPaddedTo != 0;
  }

  // Returns true if the padding of the buffer needs a region of zeros, because no run follows.
  bool needs_zeros(size_t i) const {
    if (!has_padding(i)) return false;
    for (++i; i < buffers_.size(); ++i) {
      if (!buffers_[i].on_host) return !is_gathered(buffers_[i]);
    }
    return true;
  }

  bool needs_zeros() const {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      if (needs_zeros(i)) return true;
    }
    return false;
  }

  // Returns true if the source has the padding that the buffer needs: its last byte is the last one of a buffer that
  // the library has padded, and there are as many zeros behind it.
  bool comes_padded(const OutputBuffer& buffer) const {
    if (source_.ends.empty() || buffer.origin != Origin::kCopied || buffer.source_bytes != buffer.size) return false;
    const auto memory = reinterpret_cast<uintptr_t>(source_.memory);
    const auto begin = reinterpret_cast<uintptr_t>(buffer.source) + static_cast<uintptr_t>(buffer.source_offset);
    if (begin < memory) return false;
    const int64_t end = static_cast<int64_t>(begin - memory) + buffer.size;
    const int64_t zeros = align_up(end, kPaddedTo) - end;
    return zeros >= buffer.padded_end() - buffer.end() && std::ranges::binary_search(source_.ends, end);
  }

  // Adds a buffer with its padding. Buffers that are adjacent at both ends become one region.
  void add_padded(const OutputBuffer& buffer, std::pmr::vector<Region>& regions) const {
    Region added = copied(buffer);
    added.size = buffer.padded_end() - buffer.offset;
    const auto start = [](const Region& region) { return static_cast<const char*>(region.src) + region.src_offset; };
    const bool is_adjacent = !regions.empty() && regions.back().dst == added.dst &&
                             regions.back().src_device == added.src_device &&
                             regions.back().dst_offset + regions.back().size == added.dst_offset &&
                             start(regions.back()) + regions.back().size == start(added);
    if (is_adjacent) {
      regions.back().size += added.size;
    } else {
      regions.push_back(added);
    }
  }

  // Adds the padding of a buffer that is copied by itself.
  void pad(size_t i) {
    if (!needs_zeros(i)) return;
    const auto& buffer = buffers_[i];
    const int64_t padding = buffer.padded_end() - buffer.end();
    staged_regions_.push_back({route_.target_handle(), target_, buffer.end(), nullptr, stage_, zeros_, padding, 0});
  }

  int64_t gathered_bytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers_.size();) {
      const size_t end = buffers_[i].on_host ? i : run_end(i);  // a run begins where gather() is called
      if (end > i) bytes += run_bytes(i, end);
      i = end > i ? end : i + 1;
    }
    return bytes;
  }

  // Gathers the run that begins at `first`. Returns its end.
  size_t gather(size_t first) {
    const size_t end = run_end(first);
    const auto run = std::span(buffers_).subspan(first, end - first);
    const int64_t begin = run_begin(first);
    const int64_t bytes = run_bytes(first, end);
    assert(stage_ != nullptr);
    uint8_t* const stage = stage_ + staged_;
    int64_t written = 0;
    for (const auto& buffer : run) {
      if (buffer.on_host) continue;
      const int64_t at = buffer.offset - begin;
      if (at > written) std::memset(stage + written, 0, static_cast<size_t>(at - written));  // no stray bytes
      if (buffer.origin == Origin::kMade) {
        write_buffer(array_, plan_, buffer, stage + at);
      } else {
        std::memcpy(stage + at, static_cast<const uint8_t*>(buffer.source) + buffer.source_offset,
                    static_cast<size_t>(buffer.size));
      }
      written = at + buffer.size;
    }
    std::memset(stage + written, 0, static_cast<size_t>(bytes - written));
    staged_regions_.push_back({route_.target_handle(), target_, begin, nullptr, stage_, staged_, bytes, 0});
    staged_ += bytes;
    unsubmitted_ += bytes;
    return end;
  }

  Region copied(const OutputBuffer& buffer) const { return region_of(buffer, route_, target_); }

  const schema::Binding& array_;
  const Plan& plan_;
  const std::pmr::vector<OutputBuffer>& buffers_;
  Route& route_;
  void* const target_;
  InFlight* const in_flight_;
  const PaddedBuffers source_;
  const Deadline& deadline_;
  std::pmr::memory_resource* const memory_;

  std::pmr::vector<Region> regions_;
  std::pmr::vector<Region> staged_regions_;  // from `stage_`, small
  uint8_t* stage_ = nullptr;
  int64_t stage_size_ = 0;
  int64_t staged_ = 0;
  int64_t unsubmitted_ = 0;  // gathered bytes in `staged_regions_`
  int64_t largest_gathered_ = kLargestGathered;
  int64_t zeros_ = 0;  // offset of kPaddedTo zeros in the staging memory
};

}  // namespace

void note_gathered(const Route& route, bool are_large, InFlight& in_flight) {
  in_flight.way = Way::kGathered;
  in_flight.reason = route.stages_host_memory() ? "the driver would wait for the queue's work"
                     : are_large                ? "the driver would copy each pageable buffer by itself"
                                                : "its buffers are small, or written by the CPU";
}

Region region_of(const OutputBuffer& buffer, const Route& route, void* target) {
  return {route.target_handle(), target, buffer.offset, route.source_handle(), buffer.source, buffer.source_offset,
          buffer.source_bytes,   0};
}

bool submit(const schema::Binding& array, const Plan& plan, const PlacedBuffers& placed, Route& route, void* target,
            InFlight* in_flight, const PaddedBuffers& source, const Deadline& deadline, Scratch& scratch) {
  return Submission(array, plan, placed, route, target, in_flight, source, deadline, scratch).run();
}

}  // namespace arrowdevice::transfer
