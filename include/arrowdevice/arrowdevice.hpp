/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrowdevice.hpp
 * Owners over arrowdevice.h for C++17 and newer. Header only: nothing but the C functions is linked.
 *
 * - An **owner** releases what it holds when it dies. It can be moved, not copied, and may be empty: default-made,
 *   moved from, or handed over. Using an empty owner is refused with EINVAL, as a released struct is, also where a NULL
 *   pointer to an owner means a default.
 * - A method that can fail throws Exception. What arrowdevice.h says of a function's errors, blocking and threads
 *   holds for the method of the same name; only what differs is said here.
 * - What the C function takes over (`moved`) is a method on an rvalue, `std::move(array).move_to(schema, device)`, or a
 *   parameter `T&&`. If it throws, the owner still holds everything.
 * - `get()` gives the C object and keeps owning it. `out()` empties the owner and gives the struct to be filled by a C
 *   function; `hand_over(&other)` moves the struct out, to a program that speaks the C interface.
 * - `make_array` and BatchBuilder make arrays of vectors, a **View** shows an array's values, and streams are ranges:
 *
 *       ad::TypedArray batch = ad::BatchBuilder().add("id", std::vector<int64_t>{1, 2}).build().move_to(device);
 *       for (ad::DeviceArray& batch : stream) {
 *         const ad::View view(std::move(batch).move_to(schema, cpu), schema);
 *         for (int64_t id : view.column("id").values<int64_t>()) ...
 *       }
 *
 * The names live in `arrowdevice::cpp`, not in `arrowdevice`: that one belongs to the library's own code, and a program
 * that sees both, a backend linked in with its source or a test, must not meet two things of one name. Write
 * `namespace ad = arrowdevice::cpp;` where it is long.
 */
#ifndef ARROWDEVICE_ARROWDEVICE_HPP
#define ARROWDEVICE_ARROWDEVICE_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

#include "arrowdevice.h"

#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS) && !defined(_CPPUNWIND)
#error "arrowdevice.hpp tells of failures by exceptions; a program without them uses arrowdevice.h"
#endif

namespace arrowdevice {
namespace cpp {

/** A time-out that never ends. */
inline constexpr std::chrono::nanoseconds kForever{-1};

/** A function of the library failed. */
class Exception : public std::exception {
 public:
  Exception(int code, const arrowdevice_error& error) noexcept : error_(error) { error_.code = code; }

  /** The errno value that the function returned. */
  int code() const noexcept { return error_.code; }
  /** The vendor's own code, 0 if none. */
  int native_code() const noexcept { return error_.native_code; }
  /** Name of the backend, "" when the library itself failed. */
  const char* backend() const noexcept { return error_.backend; }
  /** The message, as long as the exception lives. */
  const char* what() const noexcept override { return error_.message; }
  /** All of it. */
  const arrowdevice_error& error() const noexcept { return error_; }

 private:
  arrowdevice_error error_; /* by value, since copying an exception must not throw */
};

namespace detail {

/** Throws an Exception that the library did not. */
[[noreturn]] inline void fail(int code, const std::string& message) {
  arrowdevice_error error{};
  message.copy(error.message, sizeof error.message - 1);
  throw Exception(code, error);
}

template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  arrowdevice_error error{};
  const int code = function(arguments..., &error);
  if (code != 0) throw Exception(code, error);
}

/* Where the release callback of each struct is. */
inline auto& release_of(ArrowSchema& c) noexcept { return c.release; }
inline auto& release_of(ArrowArray& c) noexcept { return c.release; }
inline auto& release_of(ArrowDeviceArray& c) noexcept { return c.array.release; }
inline auto& release_of(ArrowArrayStream& c) noexcept { return c.release; }
inline auto& release_of(ArrowDeviceArrayStream& c) noexcept { return c.release; }

inline void release(ArrowSchema& c) noexcept { arrowdevice_schema_release(&c); }
inline void release(ArrowArray& c) noexcept { arrowdevice_host_array_release(&c); }
inline void release(ArrowDeviceArray& c) noexcept { arrowdevice_array_release(&c); }
inline void release(ArrowArrayStream& c) noexcept {
  if (c.release != nullptr) c.release(&c);
}
inline void release(ArrowDeviceArrayStream& c) noexcept { arrowdevice_stream_release(&c); }

/** Owns a struct with a release callback. */
template <typename Struct>
class StructOwner {
 public:
  StructOwner() noexcept : c_{} {}
  /** Takes a struct over and marks it released. */
  explicit StructOwner(Struct* moved) noexcept : c_(*moved) { release_of(*moved) = nullptr; }
  StructOwner(StructOwner&& other) noexcept : StructOwner(&other.c_) {}
  StructOwner& operator=(StructOwner&& other) noexcept {
    if (this != &other) {
      reset();
      c_ = other.c_;
      release_of(other.c_) = nullptr;
    }
    return *this;
  }
  StructOwner(const StructOwner&) = delete;
  StructOwner& operator=(const StructOwner&) = delete;
  ~StructOwner() { reset(); }

  /** Whether it holds something that is not released. */
  explicit operator bool() const noexcept { return release_of(const_cast<Struct&>(c_)) != nullptr; }
  /** The struct, owned by this object. */
  Struct* get() noexcept { return &c_; }
  const Struct* get() const noexcept { return &c_; }
  const Struct& operator*() const noexcept { return c_; }
  const Struct* operator->() const noexcept { return &c_; }
  /** Releases what is held and gives the struct for a C function to fill. */
  Struct* out() noexcept {
    reset();
    return &c_;
  }
  /** Moves the struct out; `to` is overwritten and owns it from here. */
  void hand_over(Struct* to) noexcept {
    *to = c_;
    release_of(c_) = nullptr;
  }
  /** Releases what is held. */
  void reset() noexcept {
    release(c_);
    release_of(c_) = nullptr;
  }

 private:
  Struct c_;
};

/** Owns a handle of the library. */
template <typename Handle, void (*Destroy)(Handle*)>
class HandleOwner {
 public:
  HandleOwner() noexcept = default;
  explicit HandleOwner(Handle* moved) noexcept : handle_(moved) {}
  HandleOwner(HandleOwner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  HandleOwner& operator=(HandleOwner&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  HandleOwner(const HandleOwner&) = delete;
  HandleOwner& operator=(const HandleOwner&) = delete;
  ~HandleOwner() { reset(); }

  explicit operator bool() const noexcept { return handle_ != nullptr; }
  /** The handle, owned by this object. */
  Handle* get() const noexcept { return handle_; }
  /** Gives the handle up: the caller destroys it. */
  Handle* give_up() noexcept { return std::exchange(handle_, nullptr); }
  /** Destroys what is held. */
  void reset() noexcept {
    if (handle_ != nullptr) Destroy(std::exchange(handle_, nullptr));
  }

 private:
  Handle* handle_ = nullptr;
};

/* What an owner holds. Throws where it holds nothing: a C function that takes NULL would read that as a wish. */
template <typename Owner>
auto* held_by(const Owner& owner, const char* name) {
  if (!owner) fail(EINVAL, std::string("the ") + name + " is empty");
  return owner.get();
}
template <typename Owner>
auto* held_by(const Owner* owner_or_null, const char* name) {
  return owner_or_null == nullptr ? nullptr : held_by(*owner_or_null, name);
}

template <typename Struct>
Struct sized() noexcept {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

}  // namespace detail

/** Options with their size set and these flags (a sum of ARROWDEVICE_COPY_*); fill in the rest as needed. */
inline arrowdevice_copy_options copy_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_copy_options>();
  options.flags = flags;
  return options;
}

/** Options with their size set and these flags (ARROWDEVICE_IMPORT_*); fill in the rest as needed. */
inline arrowdevice_import_options import_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_import_options>();
  options.flags = flags;
  return options;
}

/** Options with their size set and these flags (ARROWDEVICE_STREAM_*); fill in the rest as needed. */
inline arrowdevice_stream_options stream_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_stream_options>();
  options.flags = flags;
  return options;
}

/** Options with their size set; fill in the rest as needed. */
inline arrowdevice_pool_options pool_options() noexcept { return detail::sized<arrowdevice_pool_options>(); }

/**
 * A device: a value that owns nothing, since devices stay valid as long as the process. Compares by identity.
 */
class Device {
 public:
  /** No device. As a target or source it means what NULL means there. */
  Device() noexcept = default;
  Device(arrowdevice_device* device) noexcept
      : device_(device) {} /* NOLINT: as cheap and as meaningful as the pointer */

  /** arrowdevice_device_find_by_id() */
  static Device get(ArrowDeviceType type, int64_t id) {
    Device device;
    detail::call(arrowdevice_device_find_by_id, type, id, &device.device_);
    return device;
  }
  /** arrowdevice_device_find_by_name(): "cpu", "ext_dev:1" */
  static Device find(const std::string& name) {
    Device device;
    detail::call(arrowdevice_device_find_by_name, name.c_str(), &device.device_);
    return device;
  }
  /** arrowdevice_device_count() */
  static int64_t count(ArrowDeviceType type) {
    int64_t count = 0;
    detail::call(arrowdevice_device_count, type, &count);
    return count;
  }
  /** arrowdevice_device_list(): all of them. */
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
  /** arrowdevice_device_wrap(). The device is retired by retire(), not by a destructor, since that can fail. */
  static Device adopt(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
    Device device;
    detail::call(arrowdevice_device_wrap, type, id, &native, &device.device_);
    return device;
  }
  /** arrowdevice_device_unwrap() */
  void retire(std::chrono::nanoseconds timeout = kForever) const {
    detail::call(arrowdevice_device_unwrap, device_, int64_t{timeout.count()});
  }

  /** arrowdevice_device_get_info() */
  arrowdevice_device_info describe() const {
    auto info = detail::sized<arrowdevice_device_info>();
    detail::call(arrowdevice_device_get_info, device_, &info);
    return info;
  }
  /** arrowdevice_device_get_peer_flags(): what `to` can do with this device's memory, a sum of ARROWDEVICE_PEER_*. */
  uint32_t reach(Device to) const {
    uint32_t reach = 0;
    detail::call(arrowdevice_device_get_peer_flags, device_, to.device_, &reach);
    return reach;
  }
  struct Memory {
    int64_t free_bytes, total_bytes; /* -1 where the driver does not say */
  };
  /** arrowdevice_device_get_memory_info() */
  Memory memory() const {
    Memory memory{-1, -1};
    detail::call(arrowdevice_device_get_memory_info, device_, &memory.free_bytes, &memory.total_bytes);
    return memory;
  }
  /** arrowdevice_device_get_counters() */
  struct arrowdevice_device_counters counters() const {
    auto counters = detail::sized<struct arrowdevice_device_counters>();
    detail::call(arrowdevice_device_get_counters, device_, &counters);
    return counters;
  }
  /** arrowdevice_device_get_native(): borrowed handles. */
  arrowdevice_native_device native() const {
    auto native = detail::sized<arrowdevice_native_device>();
    detail::call(arrowdevice_device_get_native, device_, &native);
    return native;
  }

  arrowdevice_device* get() const noexcept { return device_; }
  explicit operator bool() const noexcept { return device_ != nullptr; }
  /** arrowdevice_device_set_pool(): the library's own pool is the default again. See Pool::make_default_of(). */
  void reset_default_pool() const {
    detail::call(arrowdevice_device_set_pool, device_, static_cast<arrowdevice_pool*>(nullptr));
  }
  friend bool operator==(Device a, Device b) noexcept { return a.device_ == b.device_; }
  friend bool operator!=(Device a, Device b) noexcept { return a.device_ != b.device_; }

 private:
  arrowdevice_device* device_ = nullptr;
};

/** An in-order lane of work on a device. */
class Queue : public detail::HandleOwner<arrowdevice_queue, arrowdevice_queue_destroy> {
 public:
  using HandleOwner::HandleOwner;
  /** arrowdevice_queue_create() */
  explicit Queue(Device device) : HandleOwner(make(arrowdevice_queue_create, device.get())) {}
  /** arrowdevice_queue_wrap(): borrows the application's queue. */
  Queue(Device device, const arrowdevice_native_queue& native)
      : HandleOwner(make(arrowdevice_queue_wrap, device.get(), &native)) {}

  /** arrowdevice_queue_finish() */
  void finish(std::chrono::nanoseconds timeout = kForever) {
    detail::call(arrowdevice_queue_finish, get(), int64_t{timeout.count()});
  }
  /** arrowdevice_queue_get_native(): a borrowed handle. */
  arrowdevice_native_queue native() const {
    auto native = detail::sized<arrowdevice_native_queue>();
    detail::call(arrowdevice_queue_get_native, static_cast<const arrowdevice_queue*>(get()), &native);
    return native;
  }
  /** arrowdevice_queue_copy(): enqueues; host memory in the regions stays valid until the copies are done. */
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

/** A pool of a device's memory. Live buffers keep it after its owner has died. */
class Pool : public detail::HandleOwner<arrowdevice_pool, arrowdevice_pool_destroy> {
 public:
  using HandleOwner::HandleOwner;
  /** arrowdevice_pool_create() */
  explicit Pool(Device device) : HandleOwner(make(device, nullptr)) {}
  Pool(Device device, const arrowdevice_pool_options& options) : HandleOwner(make(device, &options)) {}

  /** arrowdevice_pool_get_stats() */
  struct arrowdevice_pool_stats stats() const {
    auto stats = detail::sized<struct arrowdevice_pool_stats>();
    detail::call(arrowdevice_pool_get_stats, static_cast<const arrowdevice_pool*>(get()), &stats);
    return stats;
  }
  /** arrowdevice_pool_trim() */
  void trim() { detail::call(arrowdevice_pool_trim, get()); }
  /** arrowdevice_device_set_pool(): the device keeps the pool alive by itself. */
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
 * Owns device memory: an address or a handle, as the device has them. Freed as unused when the owner dies; use
 * free_after() where queued work still needs it.
 */
class Buffer {
 public:
  Buffer() noexcept = default;
  /** arrowdevice_buffer_allocate(): from the device's default pool, for any queue. */
  Buffer(Device device, int64_t size) : Buffer(device, size, nullptr, nullptr) {}
  /** From `pool_or_null`, to be used first on `queue_or_null`. */
  Buffer(Device device, int64_t size, const Pool* pool_or_null, const Queue* queue_or_null)
      : device_(device), size_(size) {
    detail::call(arrowdevice_buffer_allocate, device.get(), detail::held_by(pool_or_null, "pool"),
                 detail::held_by(queue_or_null, "queue"), size, &data_);
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
  /** Bytes. */
  int64_t size() const noexcept { return size_; }
  Device device() const noexcept { return device_; }
  /** arrowdevice_buffer_free(): nothing uses it any more. */
  void reset() noexcept { free(nullptr); }
  /** The memory is used again only after the queue's work so far. Returns at once. */
  void free_after(const Queue& queue) { free(detail::held_by(queue, "queue")); }

 private:
  void free(arrowdevice_queue* queue) noexcept {
    if (data_ != nullptr) arrowdevice_buffer_free(device_.get(), queue, std::exchange(data_, nullptr));
  }

  Device device_;
  int64_t size_ = 0;
  void* data_ = nullptr;
};

/** Owns a part of a buffer as a buffer. Must die before the memory that it is a part of. */
class SubBuffer {
 public:
  SubBuffer() noexcept = default;
  /** arrowdevice_sub_buffer_create() */
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
  /** arrowdevice_sub_buffer_destroy() */
  void reset() noexcept {
    if (data_ != nullptr) arrowdevice_sub_buffer_destroy(device_.get(), std::exchange(data_, nullptr));
  }

 private:
  Device device_;
  void* data_ = nullptr;
};

/** Owns an ArrowSchema. */
class Schema : public detail::StructOwner<ArrowSchema> {
 public:
  using StructOwner::StructOwner;
  /** arrowdevice_schema_copy() */
  static Schema copy_of(const ArrowSchema& schema) {
    Schema copy;
    detail::call(arrowdevice_schema_copy, &schema, copy.get());
    return copy;
  }
};

/** Owns an ArrowArray, one in host memory. */
class Array : public detail::StructOwner<ArrowArray> {
 public:
  using StructOwner::StructOwner;
};

/** Owns an ArrowDeviceArray. */
class DeviceArray : public detail::StructOwner<ArrowDeviceArray> {
 public:
  using StructOwner::StructOwner;

  /** arrowdevice_array_from_host() */
  static DeviceArray from_host(Array&& moved) {
    DeviceArray out;
    detail::call(arrowdevice_array_from_host, moved.get(), out.get());
    return out;
  }
  /** arrowdevice_array_export(): `written_on` NULL: the data is ready. */
  static DeviceArray from_device(Device device, Array&& moved, const Queue* written_on = nullptr) {
    DeviceArray out;
    detail::call(arrowdevice_array_export, device.get(), moved.get(), detail::held_by(written_on, "queue"), out.get());
    return out;
  }
  /** arrowdevice_array_export_event() */
  static DeviceArray from_device(Device device, Array&& moved, void* sync_event,
                                 void (*event_release)(void* user, void* sync_event), void* user) {
    DeviceArray out;
    detail::call(arrowdevice_array_export_event, device.get(), moved.get(), sync_event, event_release, user, out.get());
    return out;
  }

  /** arrowdevice_array_get_device() */
  Device device() const {
    arrowdevice_device* device = nullptr;
    detail::call(arrowdevice_array_get_device, get(), &device);
    return device;
  }
  /** arrowdevice_array_copy(): always copies. */
  DeviceArray copy(const Schema& schema, Device to) const { return copy(schema, to, nullptr); }
  DeviceArray copy(const Schema& schema, Device to, const arrowdevice_copy_options& options) const {
    return copy(schema, to, &options);
  }
  /** arrowdevice_array_to_device(): shares where it can. */
  DeviceArray move_to(const Schema& schema, Device to) && { return move_to(schema, to, nullptr); }
  DeviceArray move_to(const Schema& schema, Device to, const arrowdevice_copy_options& options) && {
    return move_to(schema, to, &options);
  }
  /** arrowdevice_array_to_host(): complete on return. */
  Array to_host(const Schema& schema) && { return to_host(schema, nullptr); }
  Array to_host(const Schema& schema, const arrowdevice_copy_options& options) && { return to_host(schema, &options); }
  /** arrowdevice_array_share(): this array becomes a co-owner itself. */
  DeviceArray share() {
    DeviceArray out;
    detail::call(arrowdevice_array_share, get(), out.get());
    return out;
  }
  /** arrowdevice_array_slice() */
  DeviceArray slice(const Schema& schema, int64_t offset, int64_t length) {
    DeviceArray out;
    detail::call(arrowdevice_array_slice, get(), schema.get(), offset, length, out.get());
    return out;
  }
  /** arrowdevice_array_select(): the columns, and their schema. */
  std::pair<DeviceArray, Schema> select(const Schema& schema, const std::vector<int64_t>& children) {
    std::pair<DeviceArray, Schema> out;
    detail::call(arrowdevice_array_select, get(), schema.get(), children.data(), static_cast<int64_t>(children.size()),
                 out.first.get(), out.second.get());
    return out;
  }
  /** arrowdevice_array_is_ready() */
  bool ready(Device source = {}) const {
    int ready = 0;
    detail::call(arrowdevice_array_is_ready, get(), source.get(), &ready);
    return ready != 0;
  }
  /** arrowdevice_array_wait(): the CPU waits. */
  void wait(std::chrono::nanoseconds timeout = kForever, Device source = {}) const {
    detail::call(arrowdevice_array_wait, get(), source.get(), int64_t{timeout.count()});
  }
  /** arrowdevice_queue_wait_array(): work queued later waits. */
  void wait_on(const Queue& queue, Device source = {}) const {
    detail::call(arrowdevice_queue_wait_array, queue.get(), get(), source.get());
  }
  /** arrowdevice_array_release_after(): released once the queue's work so far is done. */
  void release_after(const Queue& queue) && { detail::call(arrowdevice_array_release_after, get(), queue.get()); }
  /** arrowdevice_array_validate() */
  void validate(const Schema& schema, int level = ARROWDEVICE_VALIDATE_STRUCTURE, Device source = {}) const {
    detail::call(arrowdevice_array_validate, get(), schema.get(), source.get(), level);
  }

 private:
  DeviceArray copy(const Schema& schema, Device to, const arrowdevice_copy_options* options) const {
    DeviceArray out;
    detail::call(arrowdevice_array_copy, get(), schema.get(), to.get(), options, out.get());
    return out;
  }
  DeviceArray move_to(const Schema& schema, Device to, const arrowdevice_copy_options* options) {
    DeviceArray out;
    detail::call(arrowdevice_array_to_device, get(), schema.get(), to.get(), options, out.get());
    return out;
  }
  Array to_host(const Schema& schema, const arrowdevice_copy_options* options) {
    Array out;
    detail::call(arrowdevice_array_to_host, get(), schema.get(), options, out.get());
    return out;
  }
};

namespace detail {

/**
 * Goes through a stream, which must outlive it, one owner after the other. A copy looks at the same owner: an iterator
 * that was passed has nothing to show any more, as those of input streams.
 */
template <typename Stream, typename Item>
class StreamIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Item;
  using difference_type = std::ptrdiff_t;
  using pointer = Item*;
  using reference = Item&;

  /** The end. */
  StreamIterator() noexcept = default;
  /** Asks the stream for its next item. */
  explicit StreamIterator(Stream& stream) : stream_(&stream), item_(std::make_shared<Item>()) { ++*this; }

  /** The owner; what is moved out of it is the caller's, the rest is released by the next step. */
  Item& operator*() const noexcept { return *item_; }
  Item* operator->() const noexcept { return item_.get(); }
  /** If it throws, the owner is empty. */
  StreamIterator& operator++() {
    item_->reset();
    *item_ = stream_->next();
    if (!*item_) stream_ = nullptr;
    return *this;
  }
  /** What was passed, on its own. */
  class Passed {
   public:
    explicit Passed(Item&& item) noexcept : item_(std::move(item)) {}
    Item operator*() noexcept { return std::move(item_); }

   private:
    Item item_;
  };
  Passed operator++(int) {
    Passed passed(std::move(*item_));
    ++*this;
    return passed;
  }
  friend bool operator==(const StreamIterator& a, const StreamIterator& b) noexcept { return a.stream_ == b.stream_; }
  friend bool operator!=(const StreamIterator& a, const StreamIterator& b) noexcept { return !(a == b); }

 private:
  Stream* stream_ = nullptr; /* NULL at the end */
  std::shared_ptr<Item> item_;
};

}  // namespace detail

/**
 * Owns an ArrowArrayStream. A range of Array, to be gone through once: `for (Array& batch : stream)`. An exception has
 * the producer's code and text, for which alone there is room in a C stream.
 */
class ArrayStream : public detail::StructOwner<ArrowArrayStream> {
 public:
  using StructOwner::StructOwner;
  using iterator = detail::StreamIterator<ArrayStream, Array>;

  /** get_schema; may be asked before, between and after the arrays. */
  Schema schema() {
    check_alive();
    Schema out;
    const int code = get()->get_schema(get(), out.get());
    if (code != 0) fail(code, "get_schema", detail::release_of(*out.get()));
    return out;
  }
  /** get_next: an empty owner marks the end. */
  Array next() {
    check_alive();
    Array out;
    const int code = get()->get_next(get(), out.get());
    if (code != 0) fail(code, "get_next", detail::release_of(*out.get()));
    return out;
  }
  iterator begin() { return iterator(*this); }
  iterator end() noexcept { return {}; }

 private:
  void check_alive() const {
    if (!*this) detail::fail(EINVAL, "the stream is released");
  }
  template <typename Release>
  [[noreturn]] void fail(int code, const char* call, Release& release) {
    release = nullptr; /* whatever is left there, it is no array */
    const char* const text = get()->get_last_error(get());
    detail::fail(code, text != nullptr
                           ? std::string(text)
                           : std::string(call) + " of the stream failed with errno " + std::to_string(code));
  }
};

/**
 * Owns an ArrowDeviceArrayStream. A range of DeviceArray, to be gone through once: `for (DeviceArray& batch : stream)`.
 */
class DeviceArrayStream : public detail::StructOwner<ArrowDeviceArrayStream> {
 public:
  using StructOwner::StructOwner;
  using iterator = detail::StreamIterator<DeviceArrayStream, DeviceArray>;

  /** arrowdevice_stream_from_arrays(): if it throws, the arrays are as they were. */
  static DeviceArrayStream from_arrays(Schema&& moved, std::vector<DeviceArray>&& moved_arrays, ArrowDeviceType type) {
    std::vector<ArrowDeviceArray> arrays(moved_arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) moved_arrays[i].hand_over(&arrays[i]);
    DeviceArrayStream out;
    try {
      detail::call(arrowdevice_stream_from_arrays, moved.get(), arrays.data(), static_cast<int64_t>(arrays.size()),
                   type, out.get());
    } catch (...) {
      for (size_t i = 0; i < arrays.size(); ++i) moved_arrays[i] = DeviceArray(&arrays[i]);
      throw;
    }
    return out;
  }
  /** arrowdevice_stream_from_host() */
  static DeviceArrayStream from_host(ArrayStream&& moved) {
    DeviceArrayStream out;
    detail::call(arrowdevice_stream_from_host, moved.get(), out.get());
    return out;
  }
  /** arrowdevice_stream_to_device() */
  DeviceArrayStream move_to(Device to) && { return move_to(to, nullptr); }
  DeviceArrayStream move_to(Device to, const arrowdevice_stream_options& options) && { return move_to(to, &options); }
  /** arrowdevice_stream_to_host() */
  ArrayStream to_host() && { return to_host(nullptr); }
  ArrayStream to_host(const arrowdevice_stream_options& options) && { return to_host(&options); }

  /** arrowdevice_stream_get_schema(); may be asked before, between and after the arrays. */
  Schema schema() {
    Schema out;
    detail::call(arrowdevice_stream_get_schema, get(), out.get());
    return out;
  }
  /** arrowdevice_stream_get_next(): an empty owner marks the end. */
  DeviceArray next() {
    DeviceArray out;
    detail::call(arrowdevice_stream_get_next, get(), out.get());
    return out;
  }
  iterator begin() { return iterator(*this); }
  iterator end() noexcept { return {}; }
  /** arrowdevice_stream_cancel(): from any thread. */
  void cancel() { detail::call(arrowdevice_stream_cancel, get()); }

 private:
  DeviceArrayStream move_to(Device to, const arrowdevice_stream_options* options) {
    DeviceArrayStream out;
    detail::call(arrowdevice_stream_to_device, get(), to.get(), options, out.get());
    return out;
  }
  ArrayStream to_host(const arrowdevice_stream_options* options) {
    ArrayStream out;
    detail::call(arrowdevice_stream_to_host, get(), options, out.get());
    return out;
  }
};

#if __cplusplus >= 202002L
/** Values in memory that the CPU reads. */
template <typename T>
using Span = std::span<T>;
#else
/** Values in memory that the CPU reads: what there is of std::span before C++20. */
template <typename T>
class Span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using size_type = std::size_t;
  using iterator = T*;

  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T& front() const noexcept { return data_[0]; }
  constexpr T& back() const noexcept { return data_[size_ - 1]; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr Span subspan(std::size_t offset, std::size_t count) const noexcept { return {data_ + offset, count}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

/** Values in a device's memory: a typed address, for kernels. Nothing here looks at what is there. */
template <typename T>
class DeviceSpan {
 public:
  DeviceSpan(Device device, T* data, std::size_t size) noexcept : device_(device), data_(data), size_(size) {}

  Device device() const noexcept { return device_; }
  /** The device's address of the first value. */
  T* data() const noexcept { return data_; }
  /** Values. */
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

 private:
  Device device_;
  T* data_;
  std::size_t size_;
};

/** Bits in memory that the CPU reads: booleans, or which rows are valid. */
class Bits {
 public:
  /** NULL: all are set. */
  Bits(const uint8_t* bits, int64_t offset, int64_t size) noexcept : bits_(bits), offset_(offset), size_(size) {}

  std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
  bool operator[](std::size_t i) const noexcept {
    if (bits_ == nullptr) return true;
    const int64_t bit = offset_ + static_cast<int64_t>(i);
    return (bits_[bit / 8] >> (bit % 8) & 1) != 0;
  }

 private:
  const uint8_t* bits_;
  int64_t offset_, size_;
};

/**
 * One node of a view, as the rows of the node it is reached by: offsets are applied, its own and those of the structs
 * above it. A value as cheap as a few pointers, valid as long as the view. What is in host memory is there to read once
 * the array's event has fired: View::wait().
 */
class Node {
 public:
  Node(const arrowdevice_node& node, Device device) noexcept : Node(node, device, node.offset, node.length) {}

  /** The C struct. */
  const arrowdevice_node& get() const noexcept { return *node_; }
  /** "" where it has none. */
  std::string_view name() const noexcept { return node_->name != nullptr ? node_->name : ""; }
  std::string_view format() const noexcept { return node_->format; }
  /** Rows. */
  int64_t size() const noexcept { return size_; }
  int64_t n_children() const noexcept { return node_->n_children; }

  /** A child: of a struct, a sparse union or a fixed-size list the values of this node's rows, else all of them. */
  Node child(int64_t index) const {
    if (index < 0 || index >= node_->n_children) {
      refuse(EINVAL, "there is no child " + std::to_string(index) + ", but " + std::to_string(node_->n_children));
    }
    const arrowdevice_node& child = *node_->children[index];
    switch (node_->layout) {
      case ARROWDEVICE_LAYOUT_STRUCT:
      case ARROWDEVICE_LAYOUT_SPARSE_UNION: return Node(child, device_, child.offset + first_, size_);
      case ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST:
        return Node(child, device_, child.offset + first_ * node_->list_size, size_ * node_->list_size);
      default: return Node(child, device_);
    }
  }
  /** The first child of that name. Throws EINVAL where there is none. */
  Node child(std::string_view name) const {
    for (int64_t i = 0; i < node_->n_children; ++i) {
      const char* const found = node_->children[i]->name;
      if (found != nullptr && name == found) return child(i);
    }
    refuse(EINVAL, "there is no child \"" + std::string(name) + "\"");
  }

  /**
   * The values, in place. `T` must be of the format's width and kind: a signed or unsigned integer (dates, times,
   * decimals of up to 64 bits and dictionary indices, too), a floating-point type (uint16_t for half floats), or, for
   * wider decimals, fixed-size binary and intervals, a class of that size. Nulls are not told apart: see validity().
   *
   * Throws EINVAL for another `T` and for memory that is not aligned for it, ENOTSUP where the CPU cannot read the
   * memory.
   */
  template <typename T>
  Span<const T> values() const {
    check_element<T>();
    const auto* const data = static_cast<const T*>(host_data(data_buffer()));
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) != 0) refuse(EINVAL, "the values are not aligned");
    return Span<const T>(data != nullptr ? data + first_ : nullptr, static_cast<std::size_t>(size_));
  }
  /** The values where they are, checked as by values(). Throws ENOTSUP where the device has handles, not addresses. */
  template <typename T>
  DeviceSpan<const T> device_values() const {
    check_element<T>();
    if ((device_.describe().flags & ARROWDEVICE_DEVICE_ADDRESSES) == 0) {
      refuse(ENOTSUP, "buffers of its device are handles, which have no typed address");
    }
    const auto* const data = static_cast<const T*>(data_buffer().data);
    return DeviceSpan<const T>(device_, data != nullptr ? data + first_ : nullptr, static_cast<std::size_t>(size_));
  }
  /** Booleans. Throws as values(). */
  Bits bits() const {
    if (format() != "b") refuse(EINVAL, "it is not of booleans");
    return Bits(static_cast<const uint8_t*>(host_data(data_buffer())), first_, size_);
  }
  /** Which rows are not null. Throws ENOTSUP where the CPU cannot read the memory; EINVAL for a layout without
   * validity. */
  Bits validity() const {
    if (node_->n_buffers > 0 && node_->buffers[0].role == ARROWDEVICE_ROLE_VALIDITY) {
      return Bits(static_cast<const uint8_t*>(host_data(node_->buffers[0])), first_, size_);
    }
    refuse(EINVAL, "its layout has no validity of its own");
  }
  /**
   * One row of texts or binary values. Offsets are those of the array: of a producer that is not trusted they are
   * looked at by importing with ARROWDEVICE_VALIDATE_FULL. Throws EINVAL for another layout or row, ENOTSUP as
   * values().
   */
  std::string_view text(int64_t row) const {
    if (row < 0 || row >= size_) refuse(EINVAL, "there is no row " + std::to_string(row));
    switch (node_->layout) {
      case ARROWDEVICE_LAYOUT_BINARY: return text_at<int32_t>(first_ + row);
      case ARROWDEVICE_LAYOUT_LARGE_BINARY: return text_at<int64_t>(first_ + row);
      default: refuse(EINVAL, "it is not of texts or binary values");
    }
  }

 private:
  Node(const arrowdevice_node& node, Device device, int64_t first, int64_t size) noexcept
      : node_(&node), device_(device), first_(first), size_(size) {}

  [[noreturn]] void refuse(int code, const std::string& why) const {
    const std::string who = name().empty() ? std::string("the array") : '"' + std::string(name()) + '"';
    detail::fail(code, who + " of format " + std::string(format()) + ": " + why);
  }

  /* As text, not as a type of the standard: what a format's values are. */
  const char* kind() const noexcept {
    switch (node_->format[0]) {
      case 'c':
      case 's':
      case 'i':
      case 'l': return "signed integers";
      case 'd': return node_->bit_width <= 64 ? "signed integers" : "bytes";
      case 'C':
      case 'S':
      case 'I':
      case 'L': return "unsigned integers";
      case 'e':
      case 'f':
      case 'g': return "floating-point numbers";
      case 't': return format() == "tiD" || format() == "tin" ? "bytes" : "signed integers";
      case 'w': return "bytes";
      default: return "booleans";
    }
  }

  template <typename T>
  static const char* kind_of(std::string_view format) noexcept {
    if (std::is_floating_point<T>::value) return "floating-point numbers";
    if (std::is_integral<T>::value && format == "e")
      return std::is_same<T, uint16_t>::value ? "floating-point numbers" : "";
    if (std::is_integral<T>::value) return std::is_signed<T>::value ? "signed integers" : "unsigned integers";
    return "bytes";
  }

  template <typename T>
  void check_element() const {
    static_assert(std::is_same<T, std::remove_cv_t<T>>::value && std::is_trivially_copyable<T>::value,
                  "values are seen as plain types");
    static_assert(!std::is_same<T, bool>::value, "booleans are bits: see bits()");
    if (node_->layout != ARROWDEVICE_LAYOUT_FIXED) refuse(EINVAL, "its values are not of a fixed width");
    constexpr auto kBits = static_cast<int64_t>(8 * sizeof(T));
    if (node_->bit_width == kBits && std::strcmp(kind(), kind_of<T>(format())) == 0) return;
    refuse(EINVAL, "its values are " + std::string(kind()) + " of " + std::to_string(node_->bit_width) + " bits, not " +
                       kind_of<T>("") + " of " + std::to_string(kBits));
  }

  const arrowdevice_node_buffer& data_buffer() const {
    for (int32_t i = 0; i < node_->n_buffers; ++i) {
      if (node_->buffers[i].role == ARROWDEVICE_ROLE_DATA) return node_->buffers[i];
    }
    refuse(EINVAL, "it has no data buffer");
  }

  const void* host_data(const arrowdevice_node_buffer& buffer) const {
    if (buffer.data != nullptr && (buffer.flags & ARROWDEVICE_BUFFER_HOST) == 0) {
      refuse(ENOTSUP, "the CPU cannot read the memory of its device");
    }
    return buffer.data;
  }

  template <typename Offset>
  std::string_view text_at(int64_t slot) const {
    const auto* const offsets = static_cast<const unsigned char*>(host_data(node_->buffers[1]));
    const auto* const bytes = static_cast<const char*>(host_data(data_buffer()));
    Offset ends[2]; /* of any alignment */
    std::memcpy(ends, offsets + slot * static_cast<int64_t>(sizeof(Offset)), sizeof ends);
    if (ends[0] < 0 || ends[1] < ends[0]) refuse(EINVAL, "offsets of a row go back");
    if (bytes == nullptr) return {};
    return {bytes + ends[0], static_cast<std::size_t>(ends[1] - ends[0])};
  }

  const arrowdevice_node* node_;
  Device device_;
  int64_t first_, size_; /* rows, in the buffers */
};

/** A device array that was taken over: its type and its typed buffers. Releases the array when it dies. */
class View : public detail::HandleOwner<arrowdevice_view, arrowdevice_view_release> {
 public:
  using HandleOwner::HandleOwner;
  /** arrowdevice_array_import() */
  View(DeviceArray&& moved, const Schema& schema) : HandleOwner(make(moved, schema, nullptr)) {}
  View(DeviceArray&& moved, const Schema& schema, const arrowdevice_import_options& options)
      : HandleOwner(make(moved, schema, &options)) {}

  /** The tree of nodes, valid as long as the view. */
  const arrowdevice_node& root() const { return held(arrowdevice_view_get_root(get())); }
  /** Its root, to read values from. Not of a temporary, as all that looks into a view: it would be gone at once. */
  Node node() const& { return Node(root(), device()); }
  void node() const&& = delete;
  /** Node::child(): a column of a record batch. */
  Node column(std::string_view name) const& { return node().child(name); }
  Node column(int64_t index) const& { return node().child(index); }
  /** Node::values() and Node::device_values(), of an array that is no record batch. */
  template <typename T>
  Span<const T> values() const& {
    return node().values<T>();
  }
  template <typename T>
  DeviceSpan<const T> device_values() const& {
    return node().device_values<T>();
  }
  void column(std::string_view) const&& = delete;
  void column(int64_t) const&& = delete;
  template <typename T>
  void values() const&& = delete;
  template <typename T>
  void device_values() const&& = delete;
  /** arrowdevice_array_wait(): the CPU waits until the array is ready. */
  void wait(std::chrono::nanoseconds timeout = kForever) const {
    detail::call(arrowdevice_array_wait, arrowdevice_view_get_array(get()), arrowdevice_view_get_device(get()),
                 int64_t{timeout.count()});
  }
  /** The array, owned by the view. */
  const ArrowDeviceArray& array() const { return held(arrowdevice_view_get_array(get())); }
  Device device() const noexcept { return arrowdevice_view_get_device(get()); }
  /** arrowdevice_view_share() */
  DeviceArray share() const {
    DeviceArray out;
    detail::call(arrowdevice_view_share, static_cast<const arrowdevice_view*>(get()), out.get());
    return out;
  }
  /** arrowdevice_view_detach(): ends the view. */
  DeviceArray detach() && noexcept {
    DeviceArray out;
    arrowdevice_view_detach(give_up(), out.get());
    return out;
  }
  /** arrowdevice_view_release_after(): ends the view; its array is released once the queue's work so far is done. */
  void release_after(const Queue& queue) && {
    detail::call(arrowdevice_view_release_after, get(), queue.get());
    give_up();
  }

 private:
  template <typename T>
  static const T& held(const T* of_view) {
    if (of_view == nullptr) detail::fail(EINVAL, "the view is released");
    return *of_view;
  }
  static arrowdevice_view* make(DeviceArray& moved, const Schema& schema, const arrowdevice_import_options* options) {
    arrowdevice_view* view = nullptr;
    detail::call(arrowdevice_array_import, moved.get(), schema.get(), options, &view);
    return view;
  }
};

/**
 * A device array and its type. make_array() and BatchBuilder make them.
 */
struct TypedArray {
  DeviceArray array;
  Schema schema;

  /** DeviceArray::move_to(); the type stays. If it throws, both stay. */
  TypedArray move_to(Device to) && { return {std::move(array).move_to(schema, to), std::move(schema)}; }
  TypedArray move_to(Device to, const arrowdevice_copy_options& options) && {
    return {std::move(array).move_to(schema, to, options), std::move(schema)};
  }
  /** The values, of an array that is taken over; the type stays here. */
  View view() && { return View(std::move(array), schema); }
};

namespace detail {

/** The format of a vector's values; NULL for types that are no numbers. */
template <typename T>
constexpr const char* format_of() noexcept {
  if (std::is_same<T, float>::value) return "f";
  if (std::is_same<T, double>::value) return "g";
  constexpr bool kIsText = std::is_same<T, char>::value || std::is_same<T, wchar_t>::value ||
                           std::is_same<T, char16_t>::value || std::is_same<T, char32_t>::value;
  if (!std::is_integral<T>::value || std::is_same<T, bool>::value || kIsText) return nullptr;
  switch (sizeof(T)) {
    case 1: return std::is_signed<T>::value ? "c" : "C";
    case 2: return std::is_signed<T>::value ? "s" : "S";
    case 4: return std::is_signed<T>::value ? "i" : "I";
    case 8: return std::is_signed<T>::value ? "l" : "L";
    default: return nullptr;
  }
}

template <typename T>
using IfNumber = std::enable_if_t<format_of<T>() != nullptr, int>;

inline std::vector<uint8_t> bits_of(const std::vector<bool>& values) {
  std::vector<uint8_t> bits((values.size() + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1u << (i % 8));
  }
  return bits;
}

/** What an array of vectors lives on: released with it. */
template <typename... Vectors>
struct Held {
  explicit Held(Vectors&&... moved) : vectors(std::move(moved)...) {}

  std::tuple<Vectors...> vectors;
  std::vector<uint8_t> validity; /* empty: nothing is null */
  const void* buffers[1 + sizeof...(Vectors)];
};

/** Rows of a column whose buffers are the vectors, which are not copied. */
template <typename... Vectors>
Array array_of(std::size_t rows, const std::vector<bool>* validity, Vectors&&... moved) {
  using Kept = Held<Vectors...>;
  int64_t nulls = 0;
  if (validity != nullptr) {
    if (validity->size() != rows) {
      fail(EINVAL,
           "the validity has " + std::to_string(validity->size()) + " rows, the values have " + std::to_string(rows));
    }
    for (const bool valid : *validity) nulls += valid ? 0 : 1;
  }
  std::vector<uint8_t> bits = nulls > 0 ? bits_of(*validity) : std::vector<uint8_t>();
  auto held = std::make_unique<Kept>(std::move(moved)...);
  held->validity = std::move(bits);
  held->buffers[0] = nulls > 0 ? held->validity.data() : nullptr;
  std::size_t next = 1;
  std::apply([&](const auto&... vector) { ((held->buffers[next++] = vector.data()), ...); }, held->vectors);
  ArrowArray made{};
  made.length = static_cast<int64_t>(rows);
  made.null_count = nulls;
  made.n_buffers = 1 + static_cast<int64_t>(sizeof...(Vectors));
  made.buffers = held->buffers;
  made.private_data = held.release();
  made.release = [](ArrowArray* self) {
    delete static_cast<Kept*>(self->private_data);
    self->release = nullptr;
  };
  return Array(&made);
}

/** A type without children, on the stack: to be copied. */
inline ArrowSchema field_of(const char* format) noexcept {
  ArrowSchema field{};
  field.format = format;
  field.name = "";
  field.flags = ARROW_FLAG_NULLABLE;
  field.release = [](ArrowSchema* self) { self->release = nullptr; };
  return field;
}

inline TypedArray typed(Array&& array, const char* format) {
  Schema schema = Schema::copy_of(field_of(format));
  return {DeviceArray::from_host(std::move(array)), std::move(schema)};
}

template <typename T, typename Allocator>
TypedArray array_of_values(std::vector<T, Allocator>&& values, const std::vector<bool>* validity) {
  const std::size_t rows = values.size();
  return typed(array_of(rows, validity, std::move(values)), format_of<T>());
}

inline TypedArray array_of_bools(const std::vector<bool>& values, const std::vector<bool>* validity) {
  return typed(array_of(values.size(), validity, bits_of(values)), "b");
}

inline TypedArray array_of_texts(const std::vector<std::string>& values, const std::vector<bool>* validity) {
  constexpr std::size_t kMost = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> offsets;
  offsets.reserve(values.size() + 1);
  offsets.push_back(0);
  std::size_t bytes = 0;
  for (const std::string& value : values) {
    if (value.size() > kMost - bytes) fail(EINVAL, "the texts of one array are more than 2 GiB");
    bytes += value.size();
    offsets.push_back(static_cast<int32_t>(bytes));
  }
  std::vector<char> data;
  data.reserve(bytes);
  for (const std::string& value : values) data.insert(data.end(), value.begin(), value.end());
  return typed(array_of(values.size(), validity, std::move(offsets), std::move(data)), "u");
}

}  // namespace detail

/**
 * An array on the CPU out of a vector, which lives on as the array's data buffer: it is not copied, and freed with the
 * array. Integers, float and double. `validity` says which values are not null; it has as many. Throws EINVAL if not.
 * Where memory is exhausted, the vector is gone.
 */
template <typename T, typename Allocator, detail::IfNumber<T> = 0>
TypedArray make_array(std::vector<T, Allocator>&& values) {
  return detail::array_of_values(std::move(values), nullptr);
}
template <typename T, typename Allocator, detail::IfNumber<T> = 0>
TypedArray make_array(std::vector<T, Allocator>&& values, const std::vector<bool>& validity) {
  return detail::array_of_values(std::move(values), &validity);
}
/** Of booleans, whose bits are copied: the order of those in a vector is its own. */
inline TypedArray make_array(const std::vector<bool>& values) { return detail::array_of_bools(values, nullptr); }
inline TypedArray make_array(const std::vector<bool>& values, const std::vector<bool>& validity) {
  return detail::array_of_bools(values, &validity);
}
/** Of texts in UTF-8, which are copied into one buffer of less than 2 GiB; more is EINVAL. */
inline TypedArray make_array(const std::vector<std::string>& values) { return detail::array_of_texts(values, nullptr); }
inline TypedArray make_array(const std::vector<std::string>& values, const std::vector<bool>& validity) {
  return detail::array_of_texts(values, &validity);
}

/**
 * Makes a record batch on the CPU out of named columns of one length: `BatchBuilder().add("id",
 * std::move(ids)).build()`. A batch is a column of structs to another.
 */
class BatchBuilder {
 public:
  BatchBuilder() noexcept = default;
  BatchBuilder(BatchBuilder&&) noexcept = default;
  BatchBuilder& operator=(BatchBuilder&&) noexcept = default;
  BatchBuilder(const BatchBuilder&) = delete;
  BatchBuilder& operator=(const BatchBuilder&) = delete;
  ~BatchBuilder() = default;

  /**
   * Adds a column that is there already: on the CPU, and ready. Throws EINVAL for another one or another length than
   * that of the first; `column` and the builder are as they were then.
   */
  BatchBuilder& add(std::string name, TypedArray&& column) & {
    const ArrowDeviceArray& given = *column.array;
    if (!column.array || !column.schema) detail::fail(EINVAL, "column \"" + name + "\" is released");
    if (given.device_type != ARROW_DEVICE_CPU) {
      detail::fail(EINVAL, "column \"" + name + "\" is not on the CPU, where batches are built");
    }
    if (!columns_.empty() && given.array.length != columns_.front().array->length) {
      detail::fail(EINVAL, "column \"" + name + "\" has " + std::to_string(given.array.length) + " rows, \"" +
                               columns_.front().name + "\" has " + std::to_string(columns_.front().array->length));
    }
    columns_.emplace_back();
    ArrowDeviceArray moved;
    column.array.hand_over(&moved);
    columns_.back() = {std::move(name), Array(&moved.array), std::move(column.schema)};
    return *this;
  }
  /** Adds what make_array() makes of the values, and of the validity if there is one. */
  template <typename Values, typename... Validity>
  BatchBuilder& add(std::string name, Values&& values, Validity&&... validity) & {
    return add(std::move(name), make_array(std::forward<Values>(values), std::forward<Validity>(validity)...));
  }
  template <typename... Arguments>
  BatchBuilder&& add(std::string name, Arguments&&... arguments) && {
    add(std::move(name), std::forward<Arguments>(arguments)...);
    return std::move(*this);
  }

  /** The batch. Throws EINVAL without a column. If it throws, the columns stay. */
  TypedArray build() && {
    if (columns_.empty()) detail::fail(EINVAL, "a batch needs a column, which says how many rows it has");
    std::vector<ArrowSchema> fields;
    std::vector<ArrowSchema*> children;
    for (Column& column : columns_) {
      fields.push_back(*column.schema); /* as it is, but for the name */
      fields.back().name = column.name.c_str();
    }
    for (ArrowSchema& field : fields) children.push_back(&field);
    ArrowSchema type = detail::field_of("+s");
    type.flags = 0;
    type.n_children = static_cast<int64_t>(children.size());
    type.children = children.data();
    Schema schema = Schema::copy_of(type);

    auto held = std::make_unique<Root>();
    held->columns.resize(columns_.size());
    for (ArrowArray& column : held->columns) held->children.push_back(&column);
    ArrowArray root{};
    root.length = columns_.front().array->length;
    root.n_buffers = 1;
    root.buffers = held->buffers;
    root.n_children = static_cast<int64_t>(held->children.size());
    root.children = held->children.data();
    std::vector<ArrowArray>& columns = held->columns;
    root.private_data = held.release();
    root.release = [](ArrowArray* self) {
      delete static_cast<Root*>(self->private_data);
      self->release = nullptr;
    };
    DeviceArray batch = DeviceArray::from_host(Array(&root));
    for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i].array.hand_over(&columns[i]); /* cannot fail */
    columns_.clear();
    return {std::move(batch), std::move(schema)};
  }

 private:
  struct Column {
    std::string name;
    Array array;
    Schema schema;
  };
  /* What the root of a batch lives on. Columns that a consumer has moved out are its own. */
  struct Root {
    std::vector<ArrowArray> columns;
    std::vector<ArrowArray*> children;
    const void* buffers[1] = {nullptr};

    Root() = default;
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;
    ~Root() {
      for (ArrowArray& column : columns) arrowdevice_host_array_release(&column);
    }
  };

  std::vector<Column> columns_;
};

/** arrowdevice_backend_load() */
inline void load_backend(const std::string& absolute_path) {
  detail::call(arrowdevice_backend_load, absolute_path.c_str());
}

/** arrowdevice_backend_get_report(): every place looked at so far, in the order of looking. */
inline std::vector<arrowdevice_backend_report> explain_backends() {
  std::vector<arrowdevice_backend_report> reports;
  for (;;) {
    auto report = detail::sized<arrowdevice_backend_report>();
    arrowdevice_error error{};
    const int code = arrowdevice_backend_get_report(static_cast<int64_t>(reports.size()), &report, &error);
    if (code == ENOENT) return reports;
    if (code != 0) throw Exception(code, error);
    reports.push_back(report);
  }
}

/** arrowdevice_deferred_set_manual() */
inline void deferred_set_manual(bool on) { detail::call(arrowdevice_deferred_set_manual, on ? 1 : 0); }

/** arrowdevice_deferred_run(): how many pieces were ended. */
inline int64_t reap(int64_t max = -1) {
  int64_t done = 0;
  detail::call(arrowdevice_deferred_run, max, &done);
  return done;
}

/** arrowdevice_wait_idle() */
inline void quiesce(std::chrono::nanoseconds timeout = kForever) {
  detail::call(arrowdevice_wait_idle, int64_t{timeout.count()});
}

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_ARROWDEVICE_HPP */
