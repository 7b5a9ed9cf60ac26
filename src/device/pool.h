// SPDX-License-Identifier: Apache-2.0
// Pools of device memory: size classes, a bound on what is kept, a cap, the application's allocator.
#pragma once

#include <arrowdevice/arrowdevice.h>
#include <sys/types.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/device.h"

namespace arrowdevice::device {

using PoolStats = arrowdevice_pool_stats;

// A part of a block as a buffer of its own, where buffers are handles.
struct SubBuffer {
  int64_t offset;
  int64_t size;
  void* handle;
};

// Memory of a driver. Its parts stay with it from one use to the next: tables that follow each other are cut alike, and
// making a handle costs a driver more than filling it.
struct Block {
  void* buffer = nullptr;
  int64_t capacity = 0;
  std::vector<SubBuffer> parts;
};

// One piece of a pool's memory. Gives itself back: nothing may use the memory any more then.
class Allocation {
 public:
  Allocation() = default;
  Allocation(std::shared_ptr<Pool> pool, Block block) noexcept : pool_(std::move(pool)), block_(std::move(block)) {}
  ~Allocation() { reset(); }
  Allocation(Allocation&& other) noexcept
      : pool_(std::move(other.pool_)), block_(std::exchange(other.block_, {})), next_part_(other.next_part_) {}
  Allocation& operator=(Allocation&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = std::move(other.pool_);
      block_ = std::exchange(other.block_, {});
      next_part_ = other.next_part_;
    }
    return *this;
  }

  void* buffer() const noexcept { return block_.buffer; }
  int64_t capacity() const noexcept { return block_.capacity; }
  explicit operator bool() const noexcept { return block_.buffer != nullptr; }
  void reset() noexcept;

  // A part of it as a buffer, which lives as long as the allocation. On devices with handles these are asked for in
  // order, each once.
  void* part(int64_t offset, int64_t size);

 private:
  std::shared_ptr<Pool> pool_;
  Block block_;
  size_t next_part_ = 0;
};

// All functions may be called from any thread. No lock is held while the driver or the application's allocator works.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  enum Owner { kDeviceOwned, kApplicationOwned };

  Pool(Device& device, const arrowdevice_pool_options& options, Owner owner);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  Device& device() const noexcept { return device_; }

  // A pool that the application made is its own owner until it is destroyed; NULL: no more.
  void set_owner(std::shared_ptr<Pool> self) noexcept {
    std::shared_ptr<Pool> former;
    const std::lock_guard lock(owner_mutex_);
    former.swap(self);
    former.swap(owner_);
  }

  // `size` > 0 bytes. `queue`: where it is used first; may be NULL. When the device is full, what is kept is given back
  // and the driver asked once more.
  Allocation allocate(Queue* queue, int64_t size);

  // Gives all that is kept back to the driver.
  void trim() noexcept;

  PoolStats stats() const;

 private:
  friend class Allocation;

  struct Kept {
    Block block;
    int64_t stamp;  // the order of giving back
  };
  using KeptList = std::list<Kept>;

  Block take_kept(int64_t capacity);
  void reserve(int64_t capacity);
  void* ask_driver(Queue* queue, int64_t capacity);
  void* ask_driver_once(Queue* queue, int64_t capacity);
  void give_back(Block& block) noexcept;
  bool keep(Block& block, KeptList& evicted);
  void to_driver(const Block& block) noexcept;
  bool may_call_out() const noexcept;

  Device& device_;
  const arrowdevice_pool_options options_;
  const pid_t creator_;  // the process that `destroy` is called in, not a child of it
  const std::optional<DeviceUse> use_;
  const int64_t keep_limit_;

  std::mutex owner_mutex_;
  std::shared_ptr<Pool> owner_;

  mutable std::mutex mutex_;
  std::map<int64_t, KeptList> kept_;  // by capacity; oldest in front
  int64_t next_stamp_ = 0;
  PoolStats stats_{};
};

}  // namespace arrowdevice::device
