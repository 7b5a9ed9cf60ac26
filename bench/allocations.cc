// SPDX-License-Identifier: Apache-2.0
// Replaces operator new in the whole process. Caches freed blocks by size, because the instructions of malloc depend on
// the heap's state. That state depends on the machine's name and on path lengths.
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
  size_t kind;  // a block has 2^kind bytes
  Block* next;
};

constexpr size_t kKeptKinds = 17;  // malloc provides larger blocks
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
