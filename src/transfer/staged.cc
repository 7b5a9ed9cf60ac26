// SPDX-License-Identifier: Apache-2.0
#include "transfer/staged.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <utility>

#include "transfer/staging.h"

namespace arrowdevice::transfer {
namespace {

using Region = arrowdevice_backend_region;

// This many further pieces wait while one piece arrives. The link from the source therefore has work even if the CPU,
// which forwards the arrived pieces, is late.
constexpr size_t kPiecesAhead = 2;
// Number of staging blocks, used in turn: for these pieces, a piece that leaves, and a piece that is filled next.
constexpr int64_t kBlocks = kPiecesAhead + 3;

// A block of staging memory, and its piece.
struct Stage {
  void* memory = nullptr;
  StagedPiece piece;
  std::shared_ptr<device::Event> arrived;  // fires when the piece is in host memory
  std::shared_ptr<device::Event> left;     // fires when the piece is on the target
};

void wait_for(const device::Event& event, const Deadline& deadline) {
  if (!event.wait(deadline.left())) throw Error(ETIMEDOUT, kLate);
}

}  // namespace

void copy_staged(Route& route, std::span<const Region> regions, std::span<const Region> from_host,
                 const Deadline& deadline, InFlight& in_flight) {
  in_flight.way = Way::kStaged;
  in_flight.reason = &route.source().backend() == &route.target().backend()
                         ? "there is no direct path between these devices"
                         : "there is no direct path between devices of two backends";
  const int64_t total = bytes_of(regions);
  const int64_t piece_bytes = staged_piece_bytes(total);
  std::vector<Stage> stages(static_cast<size_t>(std::min(kBlocks, (total + piece_bytes - 1) / piece_bytes)));
  for (auto& stage : stages) {
    in_flight.staging.push_back(allocate_staging_between(route.source(), route.target(), piece_bytes));
    stage.memory = in_flight.staging.back().buffer();
  }
  for (auto* device : {&route.source(), &route.target()}) {
    device::Counters::add(device->counters().staged_bytes, total);
  }
  const auto send_on = [&](Stage& stage) {
    wait_for(*stage.arrived, deadline);
    route.target_queue().copy(stage.piece.out);
    stage.left = route.target_queue().record();
  };
  StagedPieces pieces(regions, piece_bytes);
  bool is_first = true;
  std::deque<Stage*> arriving;
  const auto send_oldest_on = [&] {
    send_on(*arriving.front());
    arriving.pop_front();
  };
  for (size_t turn = 0; !pieces.at_end(); turn = (turn + 1) % stages.size()) {
    // If there are fewer blocks than pieces ahead, the block that is filled next must be sent first.
    if (arriving.size() == std::min(kPiecesAhead + 1, stages.size())) send_oldest_on();
    Stage& stage = stages[turn];
    if (stage.left != nullptr) wait_for(*stage.left, deadline);
    pieces.next(stage.memory, stage.piece);
    if (std::exchange(is_first, false)) {
      stage.piece.out.insert(stage.piece.out.end(), from_host.begin(), from_host.end());
    }
    route.source_queue().copy(stage.piece.in);
    stage.arrived = route.source_queue().record();
    arriving.push_back(&stage);
  }
  while (!arriving.empty()) send_oldest_on();
}

}  // namespace arrowdevice::transfer
