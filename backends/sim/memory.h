// SPDX-License-Identifier: Apache-2.0
// The memory of one device: what was allocated, in parts and as a whole, and whether a pointer is any of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sim/pages.h"
#include "sim/statistics.h"

namespace arrowdevice::sim {

// Bytes of a buffer that were found to be there. Keeps them even when the buffer is given back.
struct Range {
  std::shared_ptr<Pages> pages;
  std::byte* bytes;
  int64_t size;
};

// Buffers are addresses, any of the allocation's, or handles, only the very one that was given out.
class Memory {
 public:
  Memory(std::string owner, bool addresses, int64_t capacity, Statistics& statistics);

  // Every function throws Error(EINVAL) for buffers that are not of this memory and positions outside of them.

  // Throws Error(ENOMEM) beyond the capacity.
  void* allocate(int64_t size, int64_t alignment);

  // `in_use`: what the engine has in hand may still use the memory. Else nothing may, which is checked.
  void deallocate(void* buffer, bool in_use);

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
  struct Buffer {
    std::shared_ptr<Pages> pages;
    int64_t offset;  // in the pages
    int64_t size;
    void* parent;       // NULL: an allocation
    int64_t parts = 0;  // sub-buffers made of it that live
  };
  using Buffers = std::map<uintptr_t, Buffer>;

  // The buffer that a pointer is of, and where in it `offset` bytes on are.
  struct Place {
    Buffers::const_iterator entry;
    int64_t offset;
  };

  Buffers::const_iterator locate(const void* buffer) const;
  Buffers::iterator locate_exact(const void* buffer, const char* noun, bool part);
  Place place(const void* buffer, int64_t offset, int64_t size) const;
  [[noreturn]] void refuse(const void* buffer, const char* what) const;

  const std::string owner_;
  const bool addresses_;
  Statistics& statistics_;
  mutable std::mutex mutex_;  // guards what follows
  int64_t capacity_;
  int64_t used_ = 0;
  Buffers buffers_;  // by address or handle
};

}  // namespace arrowdevice::sim
