// SPDX-License-Identifier: Apache-2.0
#include "caches.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace arrowdevice::bench {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kLeastBytes = size_t{64} << 20;

// Returns twice the size of the last-level cache, or a large size if the system does not tell it.
size_t bytes_to_walk() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max(kLeastBytes, 2 * static_cast<size_t>(std::max(cache, 0L)));
}

unsigned char* map(size_t size) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // Small pages, so that walking them evicts translations of addresses too.
  madvise(memory, size, MADV_NOHUGEPAGE);
  std::memset(memory, 1, size);  // an untouched page is the system's page of zeros
  return static_cast<unsigned char*>(memory);
}

// Functions of one cache line each. A processor may keep code in its first-level cache while all data are evicted from
// there and from the second level.
constexpr size_t kFunctions = 2048;
using Function = size_t (*)(size_t);

template <size_t kNumber>
[[gnu::noinline, gnu::aligned(64)]] size_t step(size_t value) {
  return value * 3 + kNumber;
}

template <size_t... kNumbers>
constexpr std::array<Function, sizeof...(kNumbers)> functions(std::index_sequence<kNumbers...>) {
  return {step<kNumbers>...};
}

constexpr auto kSteps = functions(std::make_index_sequence<kFunctions>());

volatile size_t sink;

}  // namespace

CacheEviction::CacheEviction() : size_(bytes_to_walk()), memory_(map(size_)) {}
CacheEviction::~CacheEviction() { munmap(memory_, size_); }

void CacheEviction::run() {
  size_t sum = 0;
  for (size_t at = 0; at < size_; at += kCacheLine) sum += memory_[at];
  for (const Function function : kSteps) sum = function(sum);
  sink = sum;
}

}  // namespace arrowdevice::bench
