// SPDX-License-Identifier: Apache-2.0
// Tests memory that lives as long as an operation.
#include "base/scratch.h"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "support/catch.h"

namespace {

using arrowdevice::Scratch;

constexpr size_t kPiece = 1000;

// Fills pieces, then returns true if no piece overlaps another.
bool pieces_are_apart(Scratch& scratch, int pieces, int seed) {
  std::vector<unsigned char*> taken;
  for (int i = 0; i < pieces; ++i) {
    taken.push_back(static_cast<unsigned char*>(scratch.memory()->allocate(kPiece, 16)));
    std::memset(taken.back(), (seed + i) & 0xFF, kPiece);
  }
  for (int i = 0; i < pieces; ++i) {
    for (size_t at = 0; at < kPiece; ++at) {
      if (taken[static_cast<size_t>(i)][at] != ((seed + i) & 0xFF)) return false;
    }
  }
  return true;
}

TEST_CASE("memory of an operation is cached for the next one, which may need more") {
  for (const int pieces : {1, 10, 100, 1000, 10}) {
    Scratch scratch;
    CHECK(pieces_are_apart(scratch, pieces, pieces));
  }
  const void* large = nullptr;
  {
    Scratch scratch;
    large = scratch.memory()->allocate(500'000, 16);
  }
  Scratch scratch;
  CHECK(scratch.memory()->allocate(500'000, 16) == large);  // the scratch memory is reused
}

TEST_CASE("nested operations and operations on several threads do not share memory") {
  Scratch outer;
  Scratch inner;
  CHECK(outer.memory()->allocate(64, 16) != inner.memory()->allocate(64, 16));
  std::vector<std::thread> threads;
  std::vector<char> good(8, 0);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&good, t] {
      bool all = true;
      for (int i = 0; i < 200; ++i) {
        Scratch scratch;
        all &= pieces_are_apart(scratch, 1 + (i + t) % 40, t);
      }
      good[static_cast<size_t>(t)] = all;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(good == std::vector<char>(8, 1));
}

TEST_CASE("an operation can use more memory than the cache limit") {
  Scratch scratch;
  auto* const piece = static_cast<unsigned char*>(scratch.memory()->allocate(2 * Scratch::kLargestKept, 64));
  CHECK(reinterpret_cast<uintptr_t>(piece) % 64 == 0);
  piece[2 * Scratch::kLargestKept - 1] = 1;
}

}  // namespace
