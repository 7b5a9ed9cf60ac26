// SPDX-License-Identifier: Apache-2.0
// A device: a vendor's context with a published (type, id) pair.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "backend/backend.h"
#include "base/process.h"
#include "device/buffer_registry.h"
#include "device/counters.h"
#include "device/published_events.h"
#include "device/queue_cache.h"
#include "device/shareable_blocks.h"

namespace arrowdevice::device {

class Event;
class Pool;
class Queue;

// A device lives as long as the process. All functions may be called from any thread.
class Device {
 public:
  Device(const backend::Backend& backend, ArrowDeviceType type, int64_t id, void* handle, bool wrapped);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const backend::Backend& backend() const noexcept { return backend_; }
  void* handle() const noexcept { return handle_; }
  ArrowDeviceType type() const noexcept { return info_.device_type; }
  int64_t id() const noexcept { return info_.device_id; }
  // Returns the device's properties. The flag ARROWDEVICE_DEVICE_WRAPPED may be out of date, because it may change.
  const arrowdevice_device_info& info() const noexcept { return info_; }
  std::string text() const;  // "cuda:0", for messages

  bool is_cpu() const noexcept { return type() == ARROW_DEVICE_CPU; }
  bool has_addresses() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0; }
  bool is_host_readable() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_HOST_READABLE) != 0; }
  // Returns true if arrays on this device can carry an event. The backend must be able to publish and import events,
  // and the format must define them for the device type.
  bool publishes_events() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_EVENTS) != 0; }

  // Returns true if the CPU uses the memory in place, by its addresses.
  bool is_on_host() const noexcept { return has_addresses() && is_host_readable(); }

  // Returns true if a queue's wait for an event may block the calling thread.
  bool waits_on_host() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_WAIT_BLOCKS) != 0; }

  // Returns true if the driver may wait for a queue's work when it copies pageable host memory on that queue.
  bool blocks_on_pageable() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_COPY_BLOCKS) != 0; }

  // Returns true if memory that is allocated for a queue may be used by other queues only after that queue's work.
  bool is_stream_ordered() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_STREAM_ORDERED) != 0; }

  // Returns the id that arrays on this device carry: -1 for the CPU.
  int64_t published_id() const noexcept { return is_cpu() ? -1 : id(); }

  // Returns true if the driver may be called. The CPU is always usable. Other devices are not usable in a forked child,
  // after `exit` has begun, or after they were unwrapped.
  bool is_usable() const noexcept;

  // Throws ENODEV if the device is not usable.
  void check_usable() const;

  // Throws ENODEV if the device was unwrapped.
  void check_not_unwrapped() const;

  Counters& counters() const noexcept { return counters_; }

  // Returns the published events. Only a device with waits_on_host() fills the set.
  PublishedEvents& published_events() const noexcept { return published_events_; }

  // Allocates `size` > 0 bytes from the driver at the device's alignment.
  void* driver_allocate(Queue* queue, int64_t size);
  void driver_deallocate(void* buffer) noexcept;
  // Frees the memory that is cached in pools that the application does not see, and makes the backend give back what it
  // keeps for reuse.
  void driver_trim() noexcept;

  // Returns the pool that copies use if the caller names no pool. The device's own pool is created at first use.
  std::shared_ptr<Pool> pool();
  void set_pool(std::shared_ptr<Pool> pool);
  // Returns true if the application chose that pool, or made the library's own pool shareable.
  bool has_chosen_pool() const noexcept { return has_chosen_pool_.load(std::memory_order_relaxed); }

  // Returns a pool of memory that other processes never open: pool(), or the library's own if that one is shareable.
  std::shared_ptr<Pool> private_pool();

  // Returns a pool of memory that other processes can open: pool(), or the library's own if that one is not shareable.
  // Throws ENOTSUP if the backend has no such memory.
  std::shared_ptr<Pool> shareable_pool();

  // The device of the pinned memory for copies with this device, or NULL if no copy has needed it. Finding it asks the
  // driver.
  Device* pinned_device() const noexcept { return pinned_device_.load(std::memory_order_acquire); }
  void set_pinned_device(Device& pinned) const noexcept { pinned_device_.store(&pinned, std::memory_order_release); }

  // Returns the bytes that pools cache which the application does not see. driver_trim() frees them.
  int64_t hidden_cached_bytes();

  // Returns true if the backend allocates staging memory for the device.
  bool has_staging_memory() const noexcept { return backend_.table().staging_allocate != nullptr; }

  // Returns the pool of that staging memory, which is created at first use. The application does not see the pool.
  std::shared_ptr<Pool> staging_pool();

  // Allocates and frees `size` > 0 bytes of staging memory.
  void* staging_allocate(int64_t size);
  void staging_free(void* memory) noexcept;

  // Returns true if the backend has memory that other processes can open.
  bool has_shareable_memory() const noexcept { return (info_.flags & ARROWDEVICE_DEVICE_SHAREABLE) != 0; }

  // Allocates and frees `size` > 0 bytes of that memory. Throws ENOTSUP if the backend has none.
  void* shareable_allocate(Queue* queue, int64_t size);
  void shareable_free(void* buffer) noexcept;

  // Returns the location of a buffer in an allocation of shareable_allocate() in this process.
  std::optional<ShareableLocation> shareable_location(const void* buffer) const {
    return has_addresses() ? shareable_blocks_.find_address(buffer) : shareable_blocks_.find_handle(buffer);
  }

  // Returns how many such allocations were freed so far.
  uint64_t n_freed_shareable() const noexcept { return shareable_blocks_.removed(); }

  // Exports that allocation. The caller closes the descriptor of the record.
  arrowdevice_memory_record memory_export(const ShareableBlock& block) const;

  // Opens memory of another process. Returns its address or handle, and the bytes that it has.
  ShareableBlock memory_import(const arrowdevice_memory_record& record) const;
  void memory_close(void* buffer) const noexcept;

  QueueCache& queues() noexcept { return queues_; }
  BufferRegistry& buffers() noexcept { return buffers_; }

  // Creates a buffer for a region of a buffer. On devices with addresses this is arithmetic, and the result needs no
  // destroy call.
  void* sub_buffer_create(const void* buffer, int64_t offset, int64_t size) const {
    if (has_addresses()) return const_cast<char*>(static_cast<const char*>(buffer) + offset);
    return make_sub_buffer(buffer, offset, size);
  }
  void sub_buffer_destroy(void* sub) const noexcept;

  // Returns the driver's information about an address or handle, or nullopt if the driver does not know it.
  std::optional<arrowdevice_pointer_info> pointer_info(const void* buffer) const;

  // Records an event after all work of the device's context so far. Throws ENOTSUP if the driver cannot.
  std::shared_ptr<Event> record_event();

  void memory_info(int64_t* free_bytes, int64_t* total_bytes) const;

  // Logs once that the driver cannot tell if work has ended, so that its memory is not reused yet.
  void report_unknown_work(const Error& error) const noexcept;

  // Counts the live arrays, pools and queues of the device. A wrapped device cannot be unwrapped while any exist.
  void add_user() const noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
  void remove_user() const noexcept { users_.fetch_sub(1, std::memory_order_release); }
  bool has_users() const noexcept { return users_.load(std::memory_order_acquire) > 0; }

  // Marks the context of a foreign array, which the application has not wrapped. Its owner may destroy it after the
  // array's release, so the library caches neither queues nor memory for it.
  void set_borrowed(bool borrowed) noexcept { borrowed_.store(borrowed, std::memory_order_relaxed); }
  bool is_borrowed() const noexcept { return borrowed_.load(std::memory_order_relaxed); }

  // Marks an application's context that no id refers to.
  void set_wrapped(bool wrapped) noexcept { wrapped_.store(wrapped, std::memory_order_relaxed); }
  bool is_wrapped() const noexcept { return wrapped_.load(std::memory_order_relaxed); }

  // Destroys the idle queues and frees the cached memory.
  void drop_idle();

  // Unwraps the backend's handle. The library never calls the backend for this device again.
  void unwrap();

 private:
  void* allocate(const char* name, decltype(arrowdevice_backend::buffer_allocate) function, Queue* queue, int64_t size);
  std::shared_ptr<Pool> make_own_pool();
  std::shared_ptr<Pool> hidden_pool(std::shared_ptr<Pool>& pool, uint32_t flags);
  std::array<std::shared_ptr<Pool>, 3> hidden_pools();
  std::shared_ptr<Pool> make_pool(uint32_t flags);
  arrowdevice_pool_options pool_options(uint32_t flags) const noexcept;
  void* make_sub_buffer(const void* buffer, int64_t offset, int64_t size) const;

  const backend::Backend& backend_;
  void* const handle_;
  arrowdevice_device_info info_{};
  mutable Counters counters_;
  mutable PublishedEvents published_events_;
  mutable std::atomic<int64_t> users_{0};
  std::atomic<bool> unwrapped_{false};
  std::atomic<bool> borrowed_{false};
  std::atomic<bool> wrapped_;
  mutable std::atomic<bool> has_reported_unknown_work_{false};

  mutable std::atomic<Device*> pinned_device_{nullptr};

  std::mutex pool_mutex_;
  std::shared_ptr<Pool> own_pool_;
  std::shared_ptr<Pool> chosen_pool_;
  std::atomic<bool> has_chosen_pool_{false};
  std::shared_ptr<Pool> staging_pool_;
  std::shared_ptr<Pool> private_pool_;
  std::shared_ptr<Pool> shareable_pool_;

  std::optional<process::UsableAcrossFork> usable_across_fork_;  // the CPU's `pool_mutex_`

  // The destructors run in reverse order, so the pools are destroyed last.
  QueueCache queues_;
  BufferRegistry buffers_;
  mutable ShareableBlocks shareable_blocks_;
};

// A use of a device. A wrapped device cannot be unwrapped while uses exist.
class DeviceUse {
 public:
  explicit DeviceUse(const Device& device) noexcept : device_(&device) { device.add_user(); }
  ~DeviceUse() {
    if (device_ != nullptr) device_->remove_user();
  }
  DeviceUse(DeviceUse&& other) noexcept : device_(std::exchange(other.device_, nullptr)) {}
  DeviceUse& operator=(DeviceUse&&) = delete;

 private:
  const Device* device_;
};

}  // namespace arrowdevice::device
