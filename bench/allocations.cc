// SPDX-License-Identifier: Apache-2.0
// Takes the place of operator new in the whole process. What is given back is kept for the next of its size: how many
// instructions malloc takes depends on what the heap looks like, and so on the machine's name and the lengths of paths.
#include "allocations.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> count{0};

struct alignas(std::max_align_t) Block {
  size_t kind;  // of 2^kind bytes
  Block* next;
};

constexpr size_t kKeptKinds = 17;  // larger ones are malloc's
thread_local Block* kept[kKeptKinds];

}  // namespace

int64_t arrowdevice::bench::allocations() noexcept { return count.load(); }

void* operator new(size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  const auto kind = static_cast<size_t>(std::bit_width(std::max<size_t>(size, 1) - 1));
  Block* block = nullptr;
  if (kind < kKeptKinds && kept[kind] != nullptr) {
    block = kept[kind];
    kept[kind] = block->next;
  } else {
    const size_t capacity = kind < kKeptKinds ? size_t{1} << kind : size;
    block = static_cast<Block*>(std::malloc(sizeof(Block) + capacity));
    if (block == nullptr) throw std::bad_alloc();
    block->kind = kind;
  }
  return block + 1;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* const block = static_cast<Block*>(memory) - 1;
  if (block->kind >= kKeptKinds) return std::free(block);
  block->next = kept[block->kind];
  kept[block->kind] = block;
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }
