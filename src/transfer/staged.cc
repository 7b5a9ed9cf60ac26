// SPDX-License-Identifier: Apache-2.0
#include "transfer/staged.h"

#include <algorithm>
#include <deque>

#include "base/checked.h"
#include "transfer/contents.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

// Long enough that a link's latency does not matter, short enough that the first piece is there soon: the second link
// stands still until then.
constexpr int64_t kLargestPiece = 4 << 20;
constexpr int64_t kSmallestPiece = 256 << 10;
constexpr int64_t kPiecesOfACopy = 32;
constexpr int64_t kPageBytes = 4096;  // devices like copies that begin at a round address

// While one piece arrives, so many wait behind it already: the link from the source has work also when the CPU, which
// sends on what has arrived, is late.
constexpr size_t kPiecesAhead = 2;
// Blocks of staging memory, which go round: for these, one that leaves, and one that is to be filled next.
constexpr int64_t kBlocks = kPiecesAhead + 3;

int64_t piece_size(int64_t total) {
  return std::min(total, align_up(std::clamp(total / kPiecesOfACopy, kSmallestPiece, kLargestPiece), kPageBytes));
}

// One block of staging memory, and what it holds.
struct Stage {
  void* memory = nullptr;
  std::vector<Region> download;            // to it
  std::vector<Region> upload;              // from it
  std::shared_ptr<device::Event> arrived;  // on the host
  std::shared_ptr<device::Event> left;     // for the target
};

// Walks the regions in pieces of one size.
class Pieces {
 public:
  Pieces(std::span<const Region> regions, int64_t piece_bytes) : regions_(regions), piece_bytes_(piece_bytes) {}

  bool at_end() const noexcept { return next_ == regions_.size(); }

  // What of the regions is to go through a stage next.
  void lay_out(Stage& stage) {
    stage.download.clear();
    stage.upload.clear();
    for (int64_t filled = 0; !at_end() && filled < piece_bytes_;) {
      const Region& region = regions_[next_];
      const int64_t size = std::min(region.size - done_, piece_bytes_ - filled);
      stage.download.push_back(
          {nullptr, stage.memory, filled, region.from_device, region.src, region.src_offset + done_, size, 0});
      stage.upload.push_back(
          {region.to_device, region.dst, region.dst_offset + done_, nullptr, stage.memory, filled, size, 0});
      filled += size;
      done_ += size;
      if (done_ == region.size) {
        ++next_;
        done_ = 0;
      }
    }
  }

 private:
  std::span<const Region> regions_;
  const int64_t piece_bytes_;
  size_t next_ = 0;
  int64_t done_ = 0;  // bytes of the next region
};

}  // namespace

void copy_staged(Route& route, std::span<const Region> regions, InFlight& in_flight) {
  int64_t total = 0;
  for (const auto& region : regions) total += region.size;
  const int64_t piece_bytes = piece_size(total);
  std::vector<Stage> stages(static_cast<size_t>(std::min(kBlocks, (total + piece_bytes - 1) / piece_bytes)));
  for (auto& stage : stages) {
    in_flight.staging.push_back(allocate_staging(route.target(), piece_bytes));
    stage.memory = in_flight.staging.back().buffer();
  }
  for (auto* device : {&route.source(), &route.target()}) {
    device::Counters::add(device->counters().staged_bytes, total);
  }
  const auto send_on = [&](Stage& stage) {
    stage.arrived->wait(-1);
    route.target_queue().copy(stage.upload);
    stage.left = route.target_queue().record();
  };
  Pieces pieces(regions, piece_bytes);
  std::deque<Stage*> arriving;
  const auto send_oldest_on = [&] {
    send_on(*arriving.front());
    arriving.pop_front();
  };
  for (size_t turn = 0; !pieces.at_end(); turn = (turn + 1) % stages.size()) {
    // With fewer blocks than pieces ahead, what is to be filled anew has to leave first.
    if (arriving.size() == std::min(kPiecesAhead + 1, stages.size())) send_oldest_on();
    Stage& stage = stages[turn];
    if (stage.left != nullptr) stage.left->wait(-1);
    pieces.lay_out(stage);
    route.source_queue().copy(stage.download);
    stage.arrived = route.source_queue().record();
    arriving.push_back(&stage);
  }
  while (!arriving.empty()) send_oldest_on();
}

}  // namespace arrowdevice::transfer
