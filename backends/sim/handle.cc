// SPDX-License-Identifier: Apache-2.0
#include "sim/handle.h"

#include <sys/mman.h>

#include <atomic>

namespace arrowdevice::sim {
namespace {

constexpr int64_t kSpaceSize = int64_t{16} << 30;
constexpr int64_t kStride = 64;

// Reserves address space only. Its pages never use memory.
char* space() {
  static char* const start = [] {
    void* place = ::mmap(nullptr, kSpaceSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) throw Error(ENOMEM, "no host address space for the handles of simulated devices");
    return static_cast<char*>(place);
  }();
  return start;
}

}  // namespace

void* new_handle() {
  static std::atomic<int64_t> used{0};
  char* const start = space();
  const int64_t offset = used.fetch_add(kStride, std::memory_order_relaxed);
  if (offset >= kSpaceSize) throw Error(ENOMEM, "the simulated devices have given out all their handles");
  return start + offset;
}

bool is_handle(const void* pointer) {
  const auto start = reinterpret_cast<uintptr_t>(space());
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return address >= start && address - start < static_cast<uintptr_t>(kSpaceSize);
}

}  // namespace arrowdevice::sim
