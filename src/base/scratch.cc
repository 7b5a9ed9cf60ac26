// SPDX-License-Identifier: Apache-2.0
#include "base/scratch.h"

#include <bit>
#include <new>

namespace arrowdevice {

struct Scratch::Block {
  explicit Block(size_t wanted) : bytes(new std::byte[wanted]), size(wanted) {}

  std::unique_ptr<std::byte[]> bytes;  // not initialized, so unused pages cost nothing
  size_t size;
};

// Cached blocks; the first operation that finds a block takes it. Never destroyed, because operations may come until
// the process ends.
std::array<std::atomic<Scratch::Block*>, Scratch::kMostKept> Scratch::kept{};

std::unique_ptr<Scratch::Block> Scratch::take() noexcept {
  for (auto& place : kept) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (Block* const block = place.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Block>(block);
  }
  return nullptr;
}

void Scratch::keep(std::unique_ptr<Block> block) noexcept {
  for (auto& place : kept) {
    Block* empty = nullptr;
    if (place.compare_exchange_strong(empty, block.get(), std::memory_order_release, std::memory_order_relaxed)) {
      [[maybe_unused]] const auto* now_there = block.release();
      return;
    }
  }
}

void* Scratch::Overflow::do_allocate(size_t bytes, size_t alignment) {
  void* const piece = ::operator new(bytes, std::align_val_t(alignment));
  bytes_ += bytes;
  return piece;
}

// Does not pass the size, because Clang 14 supports sized deallocation only if an option enables it.
void Scratch::Overflow::do_deallocate(void* piece, size_t, size_t alignment) {
  ::operator delete(piece, std::align_val_t(alignment));
}

Scratch::Scratch() : block_(take()) {
  if (block_ == nullptr) block_ = std::make_unique<Block>(kSmallest);
  pieces_.emplace(block_->bytes.get(), block_->size, &overflow_);
}

// Caches a block that is large enough for this operation, because the next operation is likely to need as much.
Scratch::~Scratch() {
  pieces_.reset();
  if (overflow_.bytes() > 0) {
    const size_t wanted = std::bit_ceil(block_->size + overflow_.bytes());
    if (wanted <= kLargestKept) {
      try {
        block_ = std::make_unique<Block>(wanted);
      } catch (const std::bad_alloc&) {
        return;  // the next operation allocates the overflow again
      }
    }
  }
  keep(std::move(block_));
}

}  // namespace arrowdevice
