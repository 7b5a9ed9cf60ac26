// SPDX-License-Identifier: Apache-2.0
// The memory of one device: its allocations and sub-buffers. Finds the buffer of a pointer.
#pragma once

#include <arrowdevice/backend.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sim/pages.h"
#include "sim/statistics.h"

namespace arrowdevice::sim {

// Bytes of a buffer after a bounds check. Keeps them alive even if the buffer is freed.
struct Range {
  std::shared_ptr<Pages> pages;
  std::byte* bytes;
  int64_t size;
};

// Buffers are addresses or handles. Any address within an allocation is valid, but a handle must be exact.
class Memory {
 public:
  Memory(std::string owner, bool addresses, int64_t capacity, Statistics& statistics);

  // Every function throws Error(EINVAL) for buffers of other memory and for ranges outside of a buffer.

  // Throws Error(ENOMEM) beyond the capacity.
  void* allocate(int64_t size, int64_t alignment);
  // Does the same with memory that other processes can open. Its bytes are zeros, and deallocate_shareable() frees it.
  void* allocate_shareable(int64_t size, int64_t alignment);

  // Describes an allocation of allocate_shareable(). The caller closes the descriptor.
  void describe(const void* buffer, arrowdevice_memory_record& out) const;

  // Opens memory of another process, which does not count for the capacity.
  void* open(const arrowdevice_memory_record& record, int64_t& size);

  // Closes opened memory. Unless `in_use` is true, the function checks that no submitted work uses it.
  void close(void* buffer, bool in_use);

  // Frees a buffer. If `in_use` is true, submitted work may still use the memory. Otherwise the function checks that no
  // work uses it.
  void deallocate(void* buffer, bool in_use);
  void deallocate_shareable(void* buffer, bool in_use);

  void* sub_buffer_create(const void* buffer, int64_t offset, int64_t size);
  void sub_buffer_destroy(void* sub);

  Range range(const void* buffer, int64_t offset, int64_t size) const;

  struct Allocation {
    void* base;
    int64_t size;
  };
  std::optional<Allocation> find(const void* buffer) const;

  bool addresses() const { return addresses_; }
  int64_t alignment() const { return addresses_ ? 64 : 128; }
  int64_t capacity() const;
  void set_capacity(int64_t capacity);

 private:
  enum class Kind { kPlain, kShareable, kOpened };
  struct Buffer {
    std::shared_ptr<Pages> pages;
    int64_t offset;  // offset in the pages
    int64_t size;
    void* parent;       // NULL for an allocation
    int64_t parts = 0;  // number of live sub-buffers
    Kind kind = Kind::kPlain;
  };
  using Buffers = std::map<uintptr_t, Buffer>;

  // The buffer of a pointer, and the offset in it after `offset` bytes are added.
  struct Place {
    Buffers::const_iterator entry;
    int64_t offset;
  };

  void check_size(int64_t size, int64_t alignment) const;
  void* add(const std::function<std::shared_ptr<Pages>()>& make, int64_t size, Kind kind);
  void deallocate(void* buffer, bool in_use, Kind kind);
  Buffers::iterator locate_allocation(const void* buffer, Kind kind);
  bool erase(Buffers::iterator entry);
  Buffers::const_iterator locate(const void* buffer) const;
  Buffers::iterator locate_exact(const void* buffer, const char* noun, bool part);
  Place place(const void* buffer, int64_t offset, int64_t size) const;
  [[noreturn]] void refuse(const void* buffer, const char* what) const;

  const std::string owner_;
  const bool addresses_;
  Statistics& statistics_;
  mutable std::mutex mutex_;  // guards the members below
  int64_t capacity_;
  int64_t used_ = 0;
  Buffers buffers_;  // by address or handle
};

}  // namespace arrowdevice::sim
