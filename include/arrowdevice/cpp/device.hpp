/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.hpp
 * Devices, queues, pools and buffers. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_DEVICE_HPP
#define ARROWDEVICE_CPP_DEVICE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "owner.hpp"

namespace arrowdevice {
namespace cpp {

/**
 * Makes options with `struct_size` and these flags (a sum of ARROWDEVICE_POOL_*). All other members
 * are 0.
 */
inline arrowdevice_pool_options pool_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_pool_options>();
  options.flags = flags;
  return options;
}

/**
 * A device. The value owns no resource, because devices are never destroyed. Equal values are the
 * same device.
 */
class Device {
 public:
  /** Makes an empty value. If a parameter `source` is empty, the library finds the device from the array. */
  Device() noexcept = default;
  Device(arrowdevice_device* device) noexcept : device_(device) {} /* NOLINT: an implicit conversion */

  /** Calls arrowdevice_device_find_by_id(). */
  static Device find_by_id(ArrowDeviceType type, int64_t id) {
    Device device;
    detail::call(arrowdevice_device_find_by_id, type, id, &device.device_);
    return device;
  }
  /** Calls arrowdevice_device_find_by_name(), for example with "cpu" or "ext_dev:1". */
  static Device find_by_name(const std::string& name) {
    Device device;
    detail::call(arrowdevice_device_find_by_name, name.c_str(), &device.device_);
    return device;
  }
  /** Calls arrowdevice_device_count(). */
  static int64_t count(ArrowDeviceType type) {
    int64_t count = 0;
    detail::call(arrowdevice_device_count, type, &count);
    return count;
  }
  /** Calls arrowdevice_device_list() and returns all devices. */
  static std::vector<Device> list() {
    std::vector<arrowdevice_device*> found;
    int64_t count = 0;
    detail::call(arrowdevice_device_list, static_cast<arrowdevice_device**>(nullptr), int64_t{0}, &count);
    do { /* another thread may load a backend between two calls */
      found.resize(static_cast<size_t>(count));
      detail::call(arrowdevice_device_list, found.data(), static_cast<int64_t>(found.size()), &count);
    } while (count > static_cast<int64_t>(found.size()));
    found.resize(static_cast<size_t>(count));
    return std::vector<Device>(found.begin(), found.end());
  }
  /**
   * Calls arrowdevice_device_wrap(). unwrap() undoes it. A destructor does not, because unwrap()
   * can fail.
   */
  static Device wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
    Device device;
    detail::call(arrowdevice_device_wrap, type, id, &native, &device.device_);
    return device;
  }
  /** Calls arrowdevice_device_unwrap(). */
  void unwrap(std::chrono::nanoseconds timeout = kNoTimeout) const {
    detail::call(arrowdevice_device_unwrap, device_, detail::timeout_ns(timeout));
  }

  /** Calls arrowdevice_device_get_info(). */
  arrowdevice_device_info info() const {
    auto info = detail::sized<arrowdevice_device_info>();
    detail::call(arrowdevice_device_get_info, device_, &info);
    return info;
  }
  /**
   * Calls arrowdevice_device_get_peer_flags(). The flags say how `to` can use this device's memory.
   */
  uint32_t peer_flags(Device to) const {
    uint32_t flags = 0;
    detail::call(arrowdevice_device_get_peer_flags, device_, to.device_, &flags);
    return flags;
  }
  struct MemoryInfo {
    int64_t free_bytes, total_bytes; /* -1 if the driver does not report them */
  };
  /** Calls arrowdevice_device_get_memory_info(). */
  MemoryInfo memory_info() const {
    MemoryInfo memory{-1, -1};
    detail::call(arrowdevice_device_get_memory_info, device_, &memory.free_bytes, &memory.total_bytes);
    return memory;
  }
  /** Calls arrowdevice_device_get_counters(). */
  arrowdevice_device_counters counters() const {
    auto counters = detail::sized<arrowdevice_device_counters>();
    detail::call(arrowdevice_device_get_counters, device_, &counters);
    return counters;
  }
  /** Calls arrowdevice_device_get_native(). The handles are borrowed. */
  arrowdevice_native_device native() const {
    auto native = detail::sized<arrowdevice_native_device>();
    detail::call(arrowdevice_device_get_native, device_, &native);
    return native;
  }

  arrowdevice_device* get() const noexcept { return device_; }
  explicit operator bool() const noexcept { return device_ != nullptr; }
  /**
   * Calls arrowdevice_device_set_pool() with NULL, so that the library's own pool is the default
   * again.
   */
  void reset_default_pool() const {
    detail::call(arrowdevice_device_set_pool, device_, static_cast<arrowdevice_pool*>(nullptr));
  }
  friend bool operator==(Device a, Device b) noexcept { return a.device_ == b.device_; }
  friend bool operator!=(Device a, Device b) noexcept { return a.device_ != b.device_; }

 private:
  arrowdevice_device* device_ = nullptr;
};

/** Owns an in-order queue of a device. */
class Queue : public detail::HandleOwner<arrowdevice_queue, arrowdevice_queue_destroy> {
 public:
  using HandleOwner::HandleOwner;
  /** Calls arrowdevice_queue_create(). */
  explicit Queue(Device device) : HandleOwner(make(arrowdevice_queue_create, device.get())) {}
  /** Calls arrowdevice_queue_wrap(), which borrows the application's queue. */
  Queue(Device device, const arrowdevice_native_queue& native)
      : HandleOwner(make(arrowdevice_queue_wrap, device.get(), &native)) {}

  /** Calls arrowdevice_queue_finish(). */
  void finish(std::chrono::nanoseconds timeout = kNoTimeout) {
    detail::call(arrowdevice_queue_finish, get(), detail::timeout_ns(timeout));
  }
  /** Calls arrowdevice_queue_get_native(). The handle is borrowed. */
  arrowdevice_native_queue native() const {
    auto native = detail::sized<arrowdevice_native_queue>();
    detail::call(arrowdevice_queue_get_native, static_cast<const arrowdevice_queue*>(get()), &native);
    return native;
  }
  /**
   * Calls arrowdevice_queue_wait_array(), so that work that is queued later runs after the array's
   * event.
   */
  void wait_array(const detail::StructOwner<ArrowDeviceArray>& array, Device source = {}) const {
    detail::call(arrowdevice_queue_wait_array, get(), array.get(), source.get());
  }
  /**
   * Calls arrowdevice_queue_copy(). The memory of the regions must stay valid until the copies are
   * complete.
   */
  void copy(const std::vector<arrowdevice_copy_region>& regions) {
    detail::call(arrowdevice_queue_copy, get(), regions.data(), static_cast<int64_t>(regions.size()));
  }

 private:
  template <typename Function, typename... Arguments>
  static arrowdevice_queue* make(Function function, Arguments... arguments) {
    arrowdevice_queue* queue = nullptr;
    detail::call(function, arguments..., &queue);
    return queue;
  }
};

/**
 * Owns a pool of a device's memory. Live buffers hold references, so the pool may end before them.
 */
class Pool : public detail::HandleOwner<arrowdevice_pool, arrowdevice_pool_destroy> {
 public:
  using HandleOwner::HandleOwner;
  /** Calls arrowdevice_pool_create(). */
  explicit Pool(Device device) : HandleOwner(make(device, nullptr)) {}
  Pool(Device device, const arrowdevice_pool_options& options) : HandleOwner(make(device, &options)) {}

  /** Calls arrowdevice_pool_get_stats(). */
  arrowdevice_pool_stats stats() const {
    auto stats = detail::sized<arrowdevice_pool_stats>();
    detail::call(arrowdevice_pool_get_stats, static_cast<const arrowdevice_pool*>(get()), &stats);
    return stats;
  }
  /** Calls arrowdevice_pool_trim(). */
  void trim() { detail::call(arrowdevice_pool_trim, get()); }
  /** Calls arrowdevice_device_set_pool(). The device then holds a reference to the pool. */
  void make_default_of(Device device) {
    detail::call(arrowdevice_device_set_pool, device.get(), detail::held_by(*this, "pool"));
  }

 private:
  static arrowdevice_pool* make(Device device, const arrowdevice_pool_options* options) {
    arrowdevice_pool* pool = nullptr;
    detail::call(arrowdevice_pool_create, device.get(), options, &pool);
    return pool;
  }
};

/**
 * Owns device memory: an address or a handle, depending on the device. The destructor frees the
 * memory at once. If queued work still uses it, call free_after() before.
 */
class Buffer {
 public:
  Buffer() noexcept = default;
  /** Calls arrowdevice_buffer_allocate() with the device's default pool, for any queue. */
  Buffer(Device device, int64_t size) : Buffer(device, size, nullptr, nullptr) {}
  /**
   * Calls arrowdevice_buffer_allocate() with a pool and the queue that uses the memory first. Both
   * may be NULL.
   */
  Buffer(Device device, int64_t size, const Pool* pool, const Queue* queue) : device_(device), size_(size) {
    detail::call(arrowdevice_buffer_allocate, device.get(), detail::held_by(pool, "pool"),
                 detail::held_by(queue, "queue"), size, &data_);
  }
  Buffer(Buffer&& other) noexcept
      : device_(other.device_), size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = other.device_;
      size_ = other.size_;
      data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { reset(); }

  void* get() const noexcept { return data_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  /** Returns the size in bytes. */
  int64_t size() const noexcept { return size_; }
  Device device() const noexcept { return device_; }
  /** Calls arrowdevice_buffer_free(). No work may still use the memory. */
  void reset() noexcept { free(nullptr); }
  /**
   * Calls arrowdevice_buffer_free() with a queue: the memory is reused only after its work so far.
   * Returns at once.
   */
  void free_after(const Queue& queue) { free(detail::held_by(queue, "queue")); }

 private:
  void free(arrowdevice_queue* queue) noexcept {
    if (data_ != nullptr) arrowdevice_buffer_free(device_.get(), queue, std::exchange(data_, nullptr));
  }

  Device device_;
  int64_t size_ = 0;
  void* data_ = nullptr;
};

/** Owns a sub-buffer. Its destructor must run before that of its buffer. */
class SubBuffer {
 public:
  SubBuffer() noexcept = default;
  /** Calls arrowdevice_sub_buffer_create(). */
  SubBuffer(const Buffer& parent, int64_t offset, int64_t size) : device_(parent.device()) {
    detail::call(arrowdevice_sub_buffer_create, device_.get(), static_cast<const void*>(parent.get()), offset, size,
                 &data_);
  }
  SubBuffer(SubBuffer&& other) noexcept : device_(other.device_), data_(std::exchange(other.data_, nullptr)) {}
  SubBuffer& operator=(SubBuffer&& other) noexcept {
    if (this != &other) {
      reset();
      device_ = other.device_;
      data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
  }
  SubBuffer(const SubBuffer&) = delete;
  SubBuffer& operator=(const SubBuffer&) = delete;
  ~SubBuffer() { reset(); }

  void* get() const noexcept { return data_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }
  /** Calls arrowdevice_sub_buffer_destroy(). */
  void reset() noexcept {
    if (data_ != nullptr) arrowdevice_sub_buffer_destroy(device_.get(), std::exchange(data_, nullptr));
  }

 private:
  Device device_;
  void* data_ = nullptr;
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_DEVICE_HPP */
