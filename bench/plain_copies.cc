// SPDX-License-Identifier: Apache-2.0
#include "plain_copies.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>

namespace arrowdevice::bench {
namespace {

size_t aligned(size_t size) {
  constexpr size_t kAlignment = 64;
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

// Makes the compiler believe that all memory is read, so that it keeps the copies.
void keep_copies() { asm volatile("" : : : "memory"); }

// Copies a range of the columns, which may reach across their ends.
void copy_range(const Batch& batch, int64_t from, int64_t end, char* to) {
  const int64_t column_bytes = batch.bytes() / batch.array().array.n_children;
  while (from < end) {
    const int64_t column = from / column_bytes;
    const int64_t size = std::min(end, (column + 1) * column_bytes) - from;
    std::memcpy(to + from, static_cast<const char*>(batch.column(column)) + from % column_bytes,
                static_cast<size_t>(size));
    from += size;
  }
}

}  // namespace

AlignedVector<char> touched_memory(const std::vector<Bytes>& buffers) {
  size_t size = 0;
  for (const Bytes& buffer : buffers) size += aligned(buffer.size);
  return AlignedVector<char>(size, 1);
}

void copy_plainly(const std::vector<Bytes>& buffers, AlignedVector<char>& to) {
  char* at = to.data();
  for (const Bytes& buffer : buffers) {
    std::memcpy(at, buffer.data, buffer.size);
    at += aligned(buffer.size);
    keep_copies();
  }
}

void copy_plainly_by_threads(const Batch& batch) {
  constexpr size_t kHugePage = size_t{2} << 20;
  constexpr int64_t kPiece = 4 << 20;
  const size_t whole = (static_cast<size_t>(batch.bytes()) + kHugePage - 1) / kHugePage * kHugePage;
  const std::unique_ptr<char, decltype(&std::free)> fresh(static_cast<char*>(std::aligned_alloc(kHugePage, whole)),
                                                          &std::free);
  madvise(fresh.get(), whole, MADV_HUGEPAGE);
  std::atomic<int64_t> next{0};
  const auto take_pieces = [&] {
    for (int64_t at = next.fetch_add(kPiece); at < batch.bytes(); at = next.fetch_add(kPiece)) {
      copy_range(batch, at, std::min(at + kPiece, batch.bytes()), fresh.get());
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min(8u, std::thread::hardware_concurrency()); ++i) others.emplace_back(take_pieces);
  take_pieces();
  for (auto& other : others) other.join();
  keep_copies();
}

}  // namespace arrowdevice::bench
