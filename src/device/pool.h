// SPDX-License-Identifier: Apache-2.0
// Pools of device memory with size classes, a limit on cached bytes, a limit on all bytes, and the application's
// allocator.
#pragma once

#include <arrowdevice/arrowdevice.h>
#include <sys/types.h>

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/kept_blocks.h"
#include "base/trace.h"
#include "device/allocation.h"
#include "device/device.h"
#include "device/holders.h"
#include "device/slabs.h"

namespace arrowdevice::device {

using PoolStats = arrowdevice_pool_stats;

// All functions may be called from any thread. No lock is held during calls of the driver or of the application's
// allocator.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  enum Owner { kDeviceOwned, kApplicationOwned };
  enum Memory { kDeviceMemory, kStagingMemory, kShareableMemory };

  // A pool of staging memory has no `allocate` in its options. Options with ARROWDEVICE_POOL_SHAREABLE make a pool of
  // shareable memory.
  Pool(Device& device, const arrowdevice_pool_options& options, Owner owner, Memory memory = kDeviceMemory);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Device& device() const noexcept { return device_; }
  bool is_shareable() const noexcept { return memory_ == kShareableMemory; }

  // Sets the owner of an application's pool. The pool owns itself until the application destroys it. NULL removes the
  // owner.
  void set_owner(std::shared_ptr<Pool> self) noexcept {
    std::shared_ptr<Pool> former;
    const std::lock_guard lock(owner_mutex_);
    former.swap(self);
    former.swap(owner_);
  }

  // Allocates `size` > 0 bytes. `queue` is the queue that uses the memory first, or NULL. If the device is full,
  // completes deferred work that has finished, frees the cached memory and asks the driver again. Fails with ENOMEM if
  // there is still no memory, and then names the largest holders.
  Allocation allocate(Queue* queue, int64_t size, Holder holder);

  // Frees all cached memory, and what the device and its backend keep for reuse.
  void trim() noexcept;

  // Frees the cached memory of this pool only.
  void free_cached() noexcept;

  PoolStats stats() const;

 private:
  friend class Allocation;

  struct CachedBlock {
    Block block;
    int64_t stamp;  // order in which blocks were returned
  };
  using CachedList = std::list<CachedBlock>;

  void forget_parents_memory();
  void report(trace::Span& growth, int64_t bytes) const noexcept;
  Block take_cached(const Queue* queue, int64_t capacity, Holder holder);
  Block pop_cached(const Queue* queue, int64_t capacity, Holder holder, CachedList& node);
  void note_allocation(Holder holder, int64_t capacity) noexcept;
  bool record_last_use(Block& block) noexcept;
  void allocate_block(Queue* queue, int64_t capacity, Holder holder, Block& block);
  void reserve(int64_t capacity);
  void unreserve(int64_t capacity) noexcept;
  std::string usage_text(int64_t requested) const;
  void* ask_driver(Queue*& queue, int64_t capacity);
  void* ask_driver_once(Queue*& queue, int64_t capacity);
  void* allocate_shareable(Queue*& queue, int64_t capacity);
  void take_back(Block& block) noexcept;
  bool cache(Block& block, CachedList& evicted);
  void to_driver(Block& block) noexcept;
  bool may_call_out() const noexcept;
  bool has_kept_blocks() const noexcept;
  kept_blocks::Stats kept_stats() const noexcept;

  Device& device_;
  const arrowdevice_pool_options options_;
  const Memory memory_;
  const pid_t creator_;  // the process that may call `destroy`; a forked child must not
  const std::optional<DeviceUse> use_;
  const int64_t cache_limit_;

  // Bytes of blocks that go to the driver after their last use. Such a block may outlive the pool.
  const std::shared_ptr<std::atomic<int64_t>> waiting_bytes_;
  const std::shared_ptr<Slabs> slabs_;  // of shareable memory with addresses; they may outlive the pool too

  std::mutex owner_mutex_;
  std::shared_ptr<Pool> owner_;

  mutable std::mutex mutex_;
  std::map<int64_t, CachedList> cached_;  // by capacity; each list begins with the oldest block
  CachedList spare_;                      // nodes without a buffer, for the next blocks that are returned
  int64_t next_stamp_ = 0;
  int generation_ = 0;  // of the process that made the cached blocks of shareable memory
  PoolStats stats_{};
  mutable int64_t peak_with_kept_ = 0;  // when the statistics were read
  Holders holders_;                     // of the used memory
};

}  // namespace arrowdevice::device
