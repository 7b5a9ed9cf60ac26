// SPDX-License-Identifier: Apache-2.0
// Pools of device memory: size classes, a bound on what is kept, a cap, the application's allocator.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "device/device.h"

namespace arrowdevice::device {

using PoolStats = struct arrowdevice_pool_stats;  // a function has that name too

// One piece of a pool's memory. Gives itself back: nothing may use the memory any more then.
class Allocation {
 public:
  Allocation() = default;
  Allocation(std::shared_ptr<Pool> pool, void* buffer, int64_t capacity) noexcept
      : pool_(std::move(pool)), buffer_(buffer), capacity_(capacity) {}
  ~Allocation() { reset(); }
  Allocation(Allocation&& other) noexcept
      : pool_(std::move(other.pool_)), buffer_(std::exchange(other.buffer_, nullptr)), capacity_(other.capacity_) {}
  Allocation& operator=(Allocation&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = std::move(other.pool_);
      buffer_ = std::exchange(other.buffer_, nullptr);
      capacity_ = other.capacity_;
    }
    return *this;
  }

  void* buffer() const noexcept { return buffer_; }
  int64_t capacity() const noexcept { return capacity_; }
  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  void reset() noexcept;

 private:
  std::shared_ptr<Pool> pool_;
  void* buffer_ = nullptr;
  int64_t capacity_ = 0;
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
  Allocation allocate(const Queue* queue, int64_t size);

  // Gives all that is kept back to the driver.
  void trim() noexcept;

  PoolStats stats() const;

 private:
  friend class Allocation;

  struct Kept {
    void* buffer;
    int64_t capacity;
    int64_t stamp;  // the order of giving back
  };
  using KeptList = std::list<Kept>;

  void* take_kept(int64_t capacity);
  void reserve(int64_t capacity);
  void* ask_driver(const Queue* queue, int64_t capacity);
  void* ask_driver_once(const Queue* queue, int64_t capacity);
  void give_back(void* buffer, int64_t capacity) noexcept;
  bool keep(void* buffer, int64_t capacity, KeptList& evicted);
  void to_driver(void* buffer, int64_t capacity) noexcept;
  bool may_call_out() const noexcept;

  Device& device_;
  const arrowdevice_pool_options options_;
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
