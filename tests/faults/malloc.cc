// SPDX-License-Identifier: Apache-2.0
// malloc and its relatives, which fail as memory.h plans.
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "faults/memory.h"

// The C library's own functions. These names remain if a program defines functions with the usual names.
extern "C" {
void* __libc_malloc(size_t size) noexcept;                      // NOLINT: its name
void* __libc_calloc(size_t n, size_t size) noexcept;            // NOLINT: its name
void* __libc_realloc(void* block, size_t size) noexcept;        // NOLINT: its name
void* __libc_memalign(size_t alignment, size_t size) noexcept;  // NOLINT: its name
void __libc_free(void* block) noexcept;                         // NOLINT: its name
}

namespace {

// The bytes at the beginning of a freed block. A read after the free finds them.
constexpr int kFreed = 0xDB;
constexpr size_t kMostOverwritten = 4096;

void* made(void* block) noexcept {
  if (block != nullptr) faults::memory::count_blocks(1);
  return block;
}

}  // namespace

extern "C" {

using faults::memory::count_blocks;
using faults::memory::fails;

void* malloc(size_t size) noexcept { return fails() ? nullptr : made(__libc_malloc(size)); }

void* calloc(size_t n, size_t size) noexcept { return fails() ? nullptr : made(__libc_calloc(n, size)); }

void* realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return malloc(size);
  if (size > 0 && fails()) return nullptr;
  void* const moved = __libc_realloc(block, size);
  if (size == 0) count_blocks(-1);
  return moved;
}

void* memalign(size_t alignment, size_t size) noexcept {
  return fails() ? nullptr : made(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) noexcept {
  void* const block = memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void free(void* block) noexcept {
  if (block == nullptr) return;
  count_blocks(-1);
  const int error = errno;
  std::memset(block, kFreed, std::min(malloc_usable_size(block), kMostOverwritten));
  __libc_free(block);
  errno = error;
}

}  // extern "C"
