// SPDX-License-Identifier: Apache-2.0
#include "base/kept_blocks.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <new>

#include "base/size_class.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARROWDEVICE_POISONS_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARROWDEVICE_POISONS_MEMORY
#endif
#endif
#ifdef ARROWDEVICE_POISONS_MEMORY
#include <sanitizer/asan_interface.h>
#endif

namespace arrowdevice::kept_blocks {
namespace {

constexpr size_t kPlaces = 16;
constexpr int64_t kMostTimesTooLarge = 4;
constexpr int64_t kUncounted = int64_t{64} << 10;  // blocks up to this size are not counted in `kept_bytes`

// The largest blocks of each kind. A place keeps one block of a kind.
constexpr std::array<int64_t, 4> kKinds = {int64_t{4} << 10, kUncounted, int64_t{1} << 20, kLargest};

// The beginning of a kept block.
struct Kept {
  int64_t capacity;
};

// Threads whose ids have the same hash share a place. It fills a cache line.
struct alignas(64) Place {
  std::array<std::atomic<Kept*>, kKinds.size()> kept{};
  std::atomic<int64_t> used_bytes{0};  // less than 0 if other threads have made the arrays that are released here
  std::atomic<int64_t> arrays{0};
  std::atomic<int64_t> released_arrays{0};
  std::atomic<int64_t> copied_bytes{0};
};

static_assert(sizeof(Place) == 64);

// Never destroyed, because arrays may be released until the process ends.
std::array<Place, kPlaces> places;
std::atomic<int64_t> kept_bytes{0};

Place& own_place() noexcept {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
  constexpr int kBits = std::bit_width(kPlaces) - 1;
  return places[static_cast<uint64_t>(pthread_self()) * kGoldenRatio >> (64 - kBits)];
}

size_t kind_of(int64_t capacity) noexcept {
  size_t kind = 0;
  while (capacity > kKinds[kind]) ++kind;
  return kind;
}

// Kept memory must not be touched, apart from its beginning.
void poison([[maybe_unused]] const Memory& memory) noexcept {
#ifdef ARROWDEVICE_POISONS_MEMORY
  __asan_poison_memory_region(static_cast<char*>(memory.block) + sizeof(Kept),
                              static_cast<size_t>(memory.capacity) - sizeof(Kept));
#endif
}

void unpoison([[maybe_unused]] const Memory& memory) noexcept {
#ifdef ARROWDEVICE_POISONS_MEMORY
  __asan_unpoison_memory_region(memory.block, static_cast<size_t>(memory.capacity));
#endif
}

Memory take_from_system(int64_t capacity) noexcept {
  void* const block =
      ::operator new (static_cast<size_t>(capacity), std::align_val_t{static_cast<size_t>(kAlignment)}, std::nothrow);
  return block == nullptr ? Memory{} : Memory{block, capacity};
}

void free_to_system(void* block) noexcept {
  ::operator delete (block, std::align_val_t{static_cast<size_t>(kAlignment)});
}

// Takes the block of a slot, and the bytes of a large block from the count.
[[gnu::hot]] Memory take_kept(std::atomic<Kept*>& slot) noexcept {
  if (slot.load(std::memory_order_relaxed) == nullptr) return {};
  Kept* const kept = slot.exchange(nullptr, std::memory_order_acquire);
  if (kept == nullptr) return {};
  const Memory memory{kept, kept->capacity};
  if (memory.capacity > kUncounted) kept_bytes.fetch_sub(memory.capacity, std::memory_order_relaxed);
  unpoison(memory);
  return memory;
}

// Keeps a block in a slot, and returns the block that was there.
Kept* keep(const Memory& memory, std::atomic<Kept*>& slot) noexcept {
  auto* const kept = new (memory.block) Kept{memory.capacity};
  poison(memory);
  return slot.exchange(kept, std::memory_order_acq_rel);
}

void free_kept(Kept* kept) noexcept {
  const Memory memory{kept, kept->capacity};
  if (memory.capacity > kUncounted) kept_bytes.fetch_sub(memory.capacity, std::memory_order_relaxed);
  unpoison(memory);
  free_to_system(memory.block);
}

// A block has no size for others, because its owner may free it. So this function takes the block for a moment.
int64_t size_of_kept(std::atomic<Kept*>& slot) noexcept {
  Kept* const kept = slot.exchange(nullptr, std::memory_order_acquire);
  if (kept == nullptr) return 0;
  const int64_t capacity = kept->capacity;
  if (Kept* const newer = slot.exchange(kept, std::memory_order_acq_rel); newer != nullptr) free_kept(newer);
  return capacity;
}

}  // namespace

[[gnu::hot]] Memory take(int64_t size) noexcept {
  if (size > kLargest) return {};
  const int64_t capacity = size_class(size);
  const Memory kept = take_kept(own_place().kept[kind_of(capacity)]);
  if (kept.block != nullptr) {
    if (kept.capacity >= size && kept.capacity / kMostTimesTooLarge <= capacity) return kept;
    give_back(kept);
  }
  return take_from_system(capacity);
}

[[gnu::hot]] void give_back(const Memory& memory) noexcept {
  const bool is_counted = memory.capacity > kUncounted;
  if (is_counted && kept_bytes.fetch_add(memory.capacity, std::memory_order_relaxed) + memory.capacity > kMostKept) {
    kept_bytes.fetch_sub(memory.capacity, std::memory_order_relaxed);
    free_to_system(memory.block);
    return;
  }
  if (Kept* const former = keep(memory, own_place().kept[kind_of(memory.capacity)]); former != nullptr)
    free_kept(former);
}

void trim() noexcept {
  for (Place& place : places) {
    for (auto& slot : place.kept) {
      const Memory kept = take_kept(slot);
      if (kept.block != nullptr) free_to_system(kept.block);
    }
  }
}

[[gnu::hot]] void note_array(int64_t capacity, int64_t copied_bytes) noexcept {
  Place& place = own_place();
  place.copied_bytes.fetch_add(copied_bytes, std::memory_order_relaxed);
  place.used_bytes.fetch_add(capacity, std::memory_order_relaxed);
  place.arrays.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::hot]] void note_release(int64_t capacity) noexcept {
  Place& place = own_place();
  place.used_bytes.fetch_sub(capacity, std::memory_order_relaxed);
  place.released_arrays.fetch_add(1, std::memory_order_relaxed);
}

Stats stats() noexcept {
  Stats sum;
  for (Place& place : places) {
    sum.used_bytes += place.used_bytes.load(std::memory_order_relaxed);
    sum.arrays += place.arrays.load(std::memory_order_relaxed);
    sum.live_arrays -= place.released_arrays.load(std::memory_order_relaxed);
    for (auto& slot : place.kept) sum.cached_bytes += size_of_kept(slot);
  }
  sum.live_arrays += sum.arrays;
  return sum;
}

int64_t copied_bytes() noexcept {
  int64_t sum = 0;
  for (const Place& place : places) sum += place.copied_bytes.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace arrowdevice::kept_blocks
