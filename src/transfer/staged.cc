// SPDX-License-Identifier: Apache-2.0
#include "transfer/staged.h"

#include <algorithm>

#include "transfer/contents.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

// Long enough that a link's latency does not matter, short enough that the first half is filled soon.
constexpr int64_t kHalfBytes = 4 << 20;

// Walks the regions in pieces that fill a half.
class Pieces {
 public:
  explicit Pieces(std::span<const Region> regions) : regions_(regions) {}

  bool at_end() const noexcept { return next_ == regions_.size(); }

  // Fills a half at `stage`: the regions that lead there, and the ones that lead on. Returns its bytes.
  int64_t fill(void* stage, std::vector<Region>& download, std::vector<Region>& upload) {
    int64_t filled = 0;
    download.clear();
    upload.clear();
    while (!at_end() && filled < kHalfBytes) {
      const Region& region = regions_[next_];
      const int64_t size = std::min(region.size - done_, kHalfBytes - filled);
      download.push_back({nullptr, stage, filled, region.from_device, region.src, region.src_offset + done_, size, 0});
      upload.push_back({region.to_device, region.dst, region.dst_offset + done_, nullptr, stage, filled, size, 0});
      filled += size;
      done_ += size;
      if (done_ == region.size) {
        ++next_;
        done_ = 0;
      }
    }
    return filled;
  }

 private:
  std::span<const Region> regions_;
  size_t next_ = 0;
  int64_t done_ = 0;  // bytes of the next region
};

struct Half {
  std::vector<Region> download;
  std::vector<Region> upload;
  std::shared_ptr<device::Event> arrived;  // on the host
  std::shared_ptr<device::Event> left;     // for the target

  bool is_full = false;
};

}  // namespace

void copy_staged(Route& route, std::span<const Region> regions, InFlight& in_flight) {
  int64_t total = 0;
  for (const auto& region : regions) total += region.size;
  const int64_t half_bytes = std::min(total, kHalfBytes);
  Half halves[2];
  void* memory[2];
  const int used = total > kHalfBytes ? 2 : 1;
  for (int i = 0; i < used; ++i) {
    in_flight.staging.push_back(allocate_staging(route.target(), half_bytes));
    memory[i] = in_flight.staging.back().buffer();
  }
  for (auto* device : {&route.source(), &route.target()}) {
    device::Counters::add(device->counters().staged_bytes, total);
  }
  const auto send_on = [&](Half& half) {
    half.arrived->wait(-1);
    route.target_queue().copy(half.upload);
    half.left = route.target_queue().record();
    half.is_full = false;
  };
  Pieces pieces(regions);
  int turn = 0;
  for (; !pieces.at_end(); turn = (turn + 1) % used) {
    Half& half = halves[turn];
    if (half.is_full) send_on(half);
    if (half.left != nullptr) half.left->wait(-1);
    pieces.fill(memory[turn], half.download, half.upload);
    route.source_queue().copy(half.download);
    half.arrived = route.source_queue().record();
    half.is_full = true;
    // While this half arrives, the other one, which came before it, leaves.
    Half& other = halves[(turn + 1) % used];
    if (&other != &half && other.is_full) send_on(other);
  }
  for (int i = 0; i < used; ++i, turn = (turn + 1) % used) {
    if (halves[turn].is_full) send_on(halves[turn]);
  }
}

}  // namespace arrowdevice::transfer
