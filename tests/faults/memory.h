// SPDX-License-Identifier: Apache-2.0
// Host memory that runs out when a test chooses. malloc.cc defines malloc and its relatives, so every library
// in the process calls them. All forms of operator new of the C++ runtime call them too. Without malloc.cc no
// allocation fails.
//
//   memory::begin({.first = 3});
//   const int code = arrowdevice_array_share(...);  // its third allocation fails
//   const bool was_reached = memory::end().failed > 0;
#pragma once

#include <cstdint>
#include <span>

namespace faults::memory {

// Chooses the allocations that fail. They count from 1, beginning with begin().
struct Plan {
  int64_t first = 0;            // none if 0
  bool onwards = false;         // and all after it
  bool on_any_thread = false;   // otherwise only on the thread that calls begin()
  bool spares_backend = false;  // allocations of the backend succeed and do not count
};

struct Figures {
  int64_t counted;
  int64_t failed;
};

void begin(const Plan& plan) noexcept;
Figures end() noexcept;

// Records call stacks until end(). The element stacks[n - 1] gets a hash of the call stack of the n-th
// counted allocation, up to the caller of this function. Equal stacks give equal hashes in all processes
// that were forked from the same parent.
void begin_recording(const Plan& plan, std::span<uint64_t> stacks) noexcept;

// Returns the number of blocks that are allocated now by all code in the process.
int64_t live_blocks() noexcept;

// Counts an allocation. Returns true if it must fail.
bool fails() noexcept;
// Adds to the number of blocks.
void count_blocks(int64_t more) noexcept;

// Marks the test's own code within calls of the library. Its allocations neither fail nor count.
class Spared {
 public:
  Spared() noexcept;
  ~Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;
};

// Marks the backend's code.
class InBackend {
 public:
  InBackend() noexcept;
  ~InBackend();
  InBackend(const InBackend&) = delete;
  InBackend& operator=(const InBackend&) = delete;
};

}  // namespace faults::memory
