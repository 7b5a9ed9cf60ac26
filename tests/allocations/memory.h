// SPDX-License-Identifier: Apache-2.0
// Host memory that runs out when a test says so. The program has its own malloc and its kin, which every library in the
// process then calls, and with them every form of operator new, of the C++ runtime.
//
//   memory::begin({.first = 3});
//   const int code = arrowdevice_array_share(...);  // its third allocation fails
//   const bool was_reached = memory::end().failed > 0;
#pragma once

#include <cstdint>
#include <span>

namespace allocations::memory {

// Which allocations fail. They count from 1, beginning with begin().
struct Plan {
  int64_t first = 0;            // none if 0
  bool onwards = false;         // and all after it
  bool on_any_thread = false;   // else on the thread that calls begin()
  bool spares_backend = false;  // what the backend needs is there, and is not counted
};

struct Figures {
  int64_t counted;
  int64_t failed;
};

void begin(const Plan& plan) noexcept;
Figures end() noexcept;

// Until end(), the n-th allocation that counts writes a number of its call stack, up to the function that called this,
// to stacks[n - 1]: equal ones for equal stacks, in all processes that were forked from one.
void begin_recording(const Plan& plan, std::span<uint64_t> stacks) noexcept;

// Blocks of memory that are allocated now, by anyone.
int64_t live_blocks() noexcept;

// The test's own code, within calls of the library: its allocations neither fail nor count.
class Spared {
 public:
  Spared() noexcept;
  ~Spared();
  Spared(const Spared&) = delete;
  Spared& operator=(const Spared&) = delete;
};

// The backend's code.
class InBackend {
 public:
  InBackend() noexcept;
  ~InBackend();
  InBackend(const InBackend&) = delete;
  InBackend& operator=(const InBackend&) = delete;
};

}  // namespace allocations::memory
