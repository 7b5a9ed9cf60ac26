// SPDX-License-Identifier: Apache-2.0
#include "transfer/submit.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "transfer/pinned.h"
#include "transfer/staged.h"
#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

class Submission {
 public:
  Submission(const schema::Binding& array, const Plan& plan, const PlacedBuffers& placed, Route& route, void* target,
             InFlight* in_flight, Scratch& scratch)
      : array_(array),
        plan_(plan),
        buffers_(placed.buffers),
        route_(route),
        target_(target),
        in_flight_(in_flight),
        regions_(scratch.memory()),
        to_stage_(scratch.memory()) {}

  void run() {
    if (route_.target_on_host()) {
      to_host();
    } else {
      to_device();
    }
  }

 private:
  // Submits a copy to host memory. The CPU writes the buffers that it makes directly; a queue copies the rest.
  void to_host() {
    auto* const out = static_cast<uint8_t*>(target_);
    regions_.reserve(buffers_.size());
    for (const auto& buffer : buffers_) {
      if (buffer.on_host) continue;
      // Clears the last block before the copy, so that the same number of bytes is cleared for every buffer.
      std::memset(out + ((buffer.end() - 1) & -kPaddedTo), 0, kPaddedTo);
      if (buffer.origin == Origin::kMade) {
        write_buffer(array_, plan_, buffer, out + buffer.offset);
      } else {
        regions_.push_back(copied(buffer));
      }
    }
    if (!route_.source_on_host() && gains_from_pinned(route_, bytes_of(regions_)) && is_pageable(route_, target_)) {
      copy_through_pinned(route_, regions_, *in_flight_);
    } else {
      route_.target_queue().copy(regions_);
    }
  }

  // Submits a copy to a device. Small host buffers and buffers that the CPU makes are gathered in runs. Buffers that
  // are adjacent in the target are adjacent in staging memory too, and become one region.
  void to_device() {
    const int64_t gathered = gathered_bytes();
    stage_size_ = gathered + (needs_zeros() ? kPaddedTo : 0);
    if (stage_size_ > 0) {
      if (in_flight_->staging.empty()) in_flight_->staging.push_back(allocate_staging(route_.target(), stage_size_));
      stage_ = static_cast<uint8_t*>(in_flight_->staging.back().buffer());
      std::memset(stage_ + gathered, 0, static_cast<size_t>(stage_size_ - gathered));
      zeros_ = gathered;
      device::Counters::add(route_.target().counters().staged_bytes, gathered);
    }
    const bool avoids_pageable = route_.source_on_host() && gains_from_pinned(route_, copied_bytes());
    for (size_t i = 0; i < buffers_.size();) {
      const auto& buffer = buffers_[i];
      if (buffer.on_host) {
        ++i;
      } else if (is_gathered(buffer)) {
        i = gather(i);
      } else {
        const bool is_staged = route_.is_staged() || (avoids_pageable && is_pageable(route_, buffer.source));
        (is_staged ? to_stage_ : regions_).push_back(copied(buffer));
        pad(buffer);
        ++i;
      }
    }
    if (route_.is_staged() && !to_stage_.empty()) return copy_staged(route_, to_stage_, regions_, *in_flight_);
    route_.target_queue().copy(regions_);
    count_direct();
    if (!to_stage_.empty()) copy_through_pinned(route_, to_stage_, *in_flight_);
  }

  // Returns the bytes of the buffers that are not gathered.
  int64_t copied_bytes() const {
    int64_t bytes = 0;
    for (const auto& buffer : buffers_) bytes += buffer.on_host || is_gathered(buffer) ? 0 : buffer.size;
    return bytes;
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
    return route_.source_on_host() && buffer.size <= kLargestGathered;
  }

  // Returns the end of the run of gathered buffers that begins at `first`.
  size_t run_end(size_t first) const {
    size_t end = first;
    while (end < buffers_.size() && is_gathered(buffers_[end])) ++end;
    return end;
  }

  static int64_t run_bytes(std::span<const OutputBuffer> run) { return run.back().padded_end() - run.front().offset; }

  // Returns true if the padding of some buffer needs a region of zeros.
  bool needs_zeros() const {
    return std::ranges::any_of(buffers_, [&](const OutputBuffer& buffer) {
      return !buffer.on_host && !is_gathered(buffer) && buffer.size % kPaddedTo != 0;
    });
  }

  // Adds the padding of a buffer that is copied by itself.
  void pad(const OutputBuffer& buffer) {
    const int64_t padding = buffer.padded_end() - buffer.end();
    if (padding == 0) return;
    regions_.push_back({route_.target_handle(), target_, buffer.end(), nullptr, stage_, zeros_, padding, 0});
  }

  int64_t gathered_bytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers_.size();) {
      const size_t end = run_end(i);
      if (end > i) bytes += run_bytes(std::span(buffers_).subspan(i, end - i));
      i = end > i ? end : i + 1;
    }
    return bytes;
  }

  // Gathers the run that begins at `first`. Returns its end.
  size_t gather(size_t first) {
    const size_t end = run_end(first);
    const auto run = std::span(buffers_).subspan(first, end - first);
    const int64_t bytes = run_bytes(run);
    assert(stage_ != nullptr);
    uint8_t* const stage = stage_ + staged_;
    int64_t written = 0;
    for (const auto& buffer : run) {
      const int64_t at = buffer.offset - run.front().offset;
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
    regions_.push_back({route_.target_handle(), target_, run.front().offset, nullptr, stage_, staged_, bytes, 0});
    staged_ += bytes;
    return end;
  }

  Region copied(const OutputBuffer& buffer) const {
    return {route_.target_handle(), target_, buffer.offset, route_.source_handle(), buffer.source, buffer.source_offset,
            buffer.source_bytes,    0};
  }

  const schema::Binding& array_;
  const Plan& plan_;
  const std::pmr::vector<OutputBuffer>& buffers_;
  Route& route_;
  void* const target_;
  InFlight* const in_flight_;

  std::pmr::vector<Region> regions_;
  std::pmr::vector<Region> to_stage_;  // in pieces
  uint8_t* stage_ = nullptr;
  int64_t stage_size_ = 0;
  int64_t staged_ = 0;
  int64_t zeros_ = 0;  // offset of kPaddedTo zeros in the staging memory
};

}  // namespace

void submit(const schema::Binding& array, const Plan& plan, const PlacedBuffers& placed, Route& route, void* target,
            InFlight* in_flight, Scratch& scratch) {
  Submission(array, plan, placed, route, target, in_flight, scratch).run();
}

}  // namespace arrowdevice::transfer
