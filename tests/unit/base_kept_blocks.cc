// SPDX-License-Identifier: Apache-2.0
// Tests the blocks of host memory that the library uses again.
#include "base/kept_blocks.h"

#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace {

namespace kept_blocks = arrowdevice::kept_blocks;

void fill(const kept_blocks::Memory& memory, int value) {
  std::memset(memory.block, value, static_cast<size_t>(memory.capacity));
}

}  // namespace

TEST_CASE("a thread gets the block back that it has returned, if the size is about the same") {
  kept_blocks::trim();
  for (const int64_t size : {1, 500, 5'000, 50'000, 500'000, 5'000'000}) {
    INFO(size);
    const auto first = kept_blocks::take(size);
    REQUIRE(first.block != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(first.block) % kept_blocks::kAlignment == 0);
    CHECK(first.capacity >= size);
    fill(first, 1);
    kept_blocks::give_back(first);
    const auto second = kept_blocks::take(size);
    CHECK(second.block == first.block);
    kept_blocks::give_back(second);
  }
  CHECK(kept_blocks::stats().cached_bytes >= 5'000'000);
  kept_blocks::trim();
  CHECK(kept_blocks::stats().cached_bytes == 0);
}

TEST_CASE("a kept block is not used for a much smaller size") {
  kept_blocks::trim();
  const auto large = kept_blocks::take(60'000);
  kept_blocks::give_back(large);
  const auto small = kept_blocks::take(5'000);
  CHECK(small.block != large.block);
  CHECK(small.capacity < 10'000);
  kept_blocks::give_back(small);
  kept_blocks::trim();
}

TEST_CASE("there is no block beyond the largest, and the kept bytes have a limit") {
  CHECK(kept_blocks::take(kept_blocks::kLargest + 1).block == nullptr);
  kept_blocks::trim();
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([] { kept_blocks::give_back(kept_blocks::take(kept_blocks::kLargest)); });
  }
  for (auto& thread : threads) thread.join();
  CHECK(kept_blocks::stats().cached_bytes <= kept_blocks::kMostKept);
  kept_blocks::trim();
}

TEST_CASE("blocks of threads do not overlap while others count and trim") {
  std::vector<std::thread> threads;
  for (int seed = 1; seed <= 6; ++seed) {
    threads.emplace_back([seed] {
      std::minstd_rand random(static_cast<unsigned>(seed));
      bool is_own = true;
      for (int i = 0; i < 2'000; ++i) {
        const auto memory = kept_blocks::take(static_cast<int64_t>(random() % 9'000) + 1);
        fill(memory, seed);
        std::this_thread::yield();
        const auto* const bytes = static_cast<const unsigned char*>(memory.block);
        for (int64_t at = 0; at < memory.capacity; at += 97) is_own = is_own && bytes[at] == seed;
        kept_blocks::give_back(memory);
        if (i % 100 == 0) kept_blocks::trim();
        if (i % 70 == 0) kept_blocks::stats();
      }
      if (!is_own) std::abort();  // CHECK is not for threads
    });
  }
  for (auto& thread : threads) thread.join();
  kept_blocks::trim();
  CHECK(kept_blocks::stats().cached_bytes == 0);
}
