// SPDX-License-Identifier: Apache-2.0
#include "opencl/scatter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

namespace arrowdevice::opencl {
namespace {

// A query that fails now and then tells nothing. The watch asks every two milliseconds.
constexpr int kFailedQueries = 50;

}  // namespace

// Blocks of host memory that reads have used. New memory costs about as much as the read, because its pages are fresh.
class ReadBlocks {
 public:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  static ReadBlocks& instance() {
    static auto& blocks = *new ReadBlocks;
    return blocks;
  }

  Block take(size_t size) {
    {
      const std::lock_guard lock(mutex_);
      for (auto& block : free_) {
        if (block.size >= size) return std::exchange(block, {});
      }
    }
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
  }

  void trim() noexcept {
    std::array<Block, kMostFree> freed;
    const std::lock_guard lock(mutex_);
    freed.swap(free_);
  }

  // Replaces the smallest block if there are too many.
  void give_back(Block& block) noexcept {
    const std::lock_guard lock(mutex_);
    auto& smallest = *std::ranges::min_element(free_, {}, &Block::size);
    if (smallest.size < block.size) std::swap(smallest, block);
  }

 private:
  static constexpr size_t kMostFree = 4;

  std::mutex mutex_;
  std::array<Block, kMostFree> free_;
};

class ScatteredReads::Read {
 public:
  explicit Read(std::vector<Piece> pieces) : pieces_(std::move(pieces)), begin_(pieces_.front().offset) {
    size_t end = begin_;
    for (const auto& piece : pieces_) end = std::max(end, piece.offset + piece.size);
    size_ = end - begin_;
    block_ = ReadBlocks::instance().take(size_);
  }
  ~Read() { ReadBlocks::instance().give_back(block_); }
  Read(const Read&) = delete;
  Read& operator=(const Read&) = delete;

  size_t begin() const noexcept { return begin_; }
  size_t size() const noexcept { return size_; }
  std::byte* block() noexcept { return block_.bytes.get(); }

  // Copies the pieces if the read succeeded. A failed read reports its failure itself. The queue continues, because
  // PoCL 3.1 hangs if a command waits for a failed event.
  cl_int end(cl_int status) noexcept {
    if (status < CL_COMPLETE) return CL_COMPLETE;
    const std::lock_guard lock(mutex_);
    for (const auto& piece : pieces_) std::memcpy(piece.host, block_.bytes.get() + (piece.offset - begin_), piece.size);
    return CL_COMPLETE;
  }

  // Waits for a copy in progress. No later one begins.
  void cancel() noexcept {
    const std::lock_guard lock(mutex_);
    pieces_.clear();
  }

 private:
  std::mutex mutex_;  // guards the member below
  std::vector<Piece> pieces_;
  const size_t begin_;
  size_t size_ = 0;
  ReadBlocks::Block block_;
};

ScatteredReads::~ScatteredReads() {
  for (const auto& read : reads_) read->cancel();
}

void ScatteredReads::enqueue(cl_mem buffer, std::vector<Piece> pieces) {
  reads_.push_back(std::make_shared<Read>(std::move(pieces)));
  auto& read = reads_.back();
  relays_.emplace_back();
  relays_.back() = Relay::create(context_, kFailedQueries, [read](cl_int status) { return read->end(status); });
  auto& relay = *relays_.back();
  cl_event done = nullptr;
  const cl_int code = api().clEnqueueReadBuffer(queue_, buffer, CL_FALSE, read->begin(), read->size(), read->block(), 0,
                                                nullptr, &done);
  if (code != CL_SUCCESS) relay.drop();
  check("clEnqueueReadBuffer", code);
  // The relay comes first. It keeps the block until the read has ended, even if a later step fails.
  relay.follow(Owned<cl_event>::wrap(done));
  pending_.add(Owned<cl_event>::share(done));
}

void ScatteredReads::trim() noexcept { ReadBlocks::instance().trim(); }

void ScatteredReads::finish() {
  if (relays_.empty()) return;
  std::vector<cl_event> targets;
  for (const auto& relay : relays_) targets.push_back(relay->target());
  cl_event barrier = nullptr;
  check("clEnqueueBarrierWithWaitList",
        api().clEnqueueBarrierWithWaitList(queue_, static_cast<cl_uint>(targets.size()), targets.data(), &barrier));
  pending_.add(Owned<cl_event>::wrap(barrier));
  reads_.clear();
}

}  // namespace arrowdevice::opencl
