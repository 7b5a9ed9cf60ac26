// SPDX-License-Identifier: Apache-2.0
// Small blocks of memory, cut from slabs. A process that opens shareable memory needs a file descriptor for each
// allocation, so that many small arrays must not be as many allocations.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/process.h"

namespace arrowdevice::device {

// Any thread may call this class. The caller has addresses for memory.
class Slabs {
 public:
  static constexpr int64_t kSlab = int64_t{1} << 20;
  static constexpr int64_t kLargest = kSlab / 8;  // bytes of a block

  explicit Slabs(bool usable_across_fork);

  // Returns a block of `capacity` bytes. `allocate` gives the memory of a slab, and is called without a lock.
  void* allocate(int64_t capacity, const std::function<void*()>& allocate);

  struct Freed {
    bool is_of_slab = false;
    void* slab = nullptr;  // that has no used block any more: the caller frees its memory
  };
  Freed free(void* block) noexcept;

  // Forgets all slabs. Their blocks are not returned later.
  void forget() noexcept;

 private:
  using Addresses = std::list<char*>;
  struct Slab {
    int64_t capacity;              // of each block
    std::vector<uint32_t> unused;  // numbers of blocks; has room for all
    size_t all;                    // number of blocks
    Addresses::iterator place;     // in full_, or in partly_
  };

  // A slab that is not in the lists yet.
  struct NewSlab {
    Addresses place;
    std::map<char*, Slab>::node_type entry;
  };

  void* take(int64_t capacity) noexcept;
  NewSlab prepare(int64_t capacity);
  void* add(NewSlab slab) noexcept;

  std::mutex mutex_;
  std::optional<process::UsableAcrossFork> usable_across_fork_;
  std::map<char*, Slab> slabs_;          // by address
  Addresses full_;                       // without an unused block
  std::map<int64_t, Addresses> partly_;  // with unused blocks, by capacity
};

}  // namespace arrowdevice::device
