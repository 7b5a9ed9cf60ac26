// SPDX-License-Identifier: Apache-2.0
// Blocks of host memory that the library uses again. A thread finds the blocks that it has returned, without a lock, so
// that a copy of a small array costs neither malloc nor page faults.
#pragma once

#include <cstdint>

namespace arrowdevice::kept_blocks {

inline constexpr int64_t kAlignment = 64;
inline constexpr int64_t kLargest = int64_t{128} << 20;   // bytes of a block
inline constexpr int64_t kMostKept = int64_t{128} << 20;  // bytes of all kept blocks of more than 64 KiB

struct Memory {
  void* block = nullptr;
  int64_t capacity = 0;
};

// Returns a block of at least `size` bytes, or no block if the system has no memory or `size` exceeds kLargest.
Memory take(int64_t size) noexcept;

// Returns a block, which any thread may do.
void give_back(const Memory& memory) noexcept;

// Frees the blocks that are kept.
void trim() noexcept;

// Counts an array in a block, for the statistics of the CPU and its pool.
void note_array(int64_t capacity, int64_t copied_bytes) noexcept;
void note_release(int64_t capacity) noexcept;

struct Stats {
  int64_t used_bytes = 0;  // of arrays
  int64_t cached_bytes = 0;
  int64_t arrays = 0;  // since the process began
  int64_t live_arrays = 0;
};

Stats stats() noexcept;

// Returns the bytes that the arrays had when they were made.
int64_t copied_bytes() noexcept;

}  // namespace arrowdevice::kept_blocks
