/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrowdevice.hpp
 * Owners over arrowdevice.h for C++17 and newer. Header only: nothing but the C functions is linked.
 *
 * - An **owner** releases what it holds when it dies. It can be moved, not copied, and may be empty: default-made,
 *   moved from, or handed over. Using an empty owner is refused by the library with EINVAL, as a released struct is.
 * - A method that can fail throws Exception. What arrowdevice.h says of a function's errors, blocking and threads
 *   holds for the method of the same name; only what differs is said here.
 * - What the C function takes over (`moved`) is a method on an rvalue, `std::move(array).move_to(schema, device)`, or a
 *   parameter `T&&`. If it throws, the owner still holds everything.
 * - `get()` gives the C object and keeps owning it. `out()` empties the owner and gives the struct to be filled by a C
 *   function; `hand_over(&other)` moves the struct out, to a program that speaks the C interface.
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
#include <exception>
#include <string>
#include <utility>
#include <vector>

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

 private:
  arrowdevice_error error_; /* by value, since copying an exception must not throw */
};

namespace detail {

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

  /** arrowdevice_device_get() */
  static Device get(ArrowDeviceType type, int64_t id) {
    Device device;
    detail::call(arrowdevice_device_get, type, id, &device.device_);
    return device;
  }
  /** arrowdevice_device_find(): "cpu", "ext_dev:1" */
  static Device find(const std::string& name) {
    Device device;
    detail::call(arrowdevice_device_find, name.c_str(), &device.device_);
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
  /** arrowdevice_device_adopt(). The device is retired by retire(), not by a destructor, since that can fail. */
  static Device adopt(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
    Device device;
    detail::call(arrowdevice_device_adopt, type, id, &native, &device.device_);
    return device;
  }
  /** arrowdevice_device_retire() */
  void retire(std::chrono::nanoseconds timeout = kForever) const {
    detail::call(arrowdevice_device_retire, device_, int64_t{timeout.count()});
  }

  /** arrowdevice_device_describe() */
  arrowdevice_device_info describe() const {
    auto info = detail::sized<arrowdevice_device_info>();
    detail::call(arrowdevice_device_describe, device_, &info);
    return info;
  }
  /** arrowdevice_device_reach(): what `to` can do with this device's memory, a sum of ARROWDEVICE_REACH_*. */
  uint32_t reach(Device to) const {
    uint32_t reach = 0;
    detail::call(arrowdevice_device_reach, device_, to.device_, &reach);
    return reach;
  }
  struct Memory {
    int64_t free_bytes, total_bytes; /* -1 where the driver does not say */
  };
  /** arrowdevice_device_memory() */
  Memory memory() const {
    Memory memory{-1, -1};
    detail::call(arrowdevice_device_memory, device_, &memory.free_bytes, &memory.total_bytes);
    return memory;
  }
  /** arrowdevice_device_counters() */
  struct arrowdevice_device_counters counters() const {
    auto counters = detail::sized<struct arrowdevice_device_counters>();
    detail::call(::arrowdevice_device_counters, device_, &counters);
    return counters;
  }
  /** arrowdevice_device_native(): borrowed handles. */
  arrowdevice_native_device native() const {
    auto native = detail::sized<arrowdevice_native_device>();
    detail::call(arrowdevice_device_native, device_, &native);
    return native;
  }

  arrowdevice_device* get() const noexcept { return device_; }
  explicit operator bool() const noexcept { return device_ != nullptr; }
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
  /** arrowdevice_queue_native(): a borrowed handle. */
  arrowdevice_native_queue native() const {
    auto native = detail::sized<arrowdevice_native_queue>();
    detail::call(arrowdevice_queue_native, static_cast<const arrowdevice_queue*>(get()), &native);
    return native;
  }
  /** arrowdevice_buffer_copy(): enqueues; host memory in the regions stays valid until the copies are done. */
  void copy(const std::vector<arrowdevice_copy_region>& regions) {
    detail::call(arrowdevice_buffer_copy, get(), regions.data(), static_cast<int64_t>(regions.size()));
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

  /** arrowdevice_pool_stats() */
  struct arrowdevice_pool_stats stats() const {
    auto stats = detail::sized<struct arrowdevice_pool_stats>();
    detail::call(::arrowdevice_pool_stats, static_cast<const arrowdevice_pool*>(get()), &stats);
    return stats;
  }
  /** arrowdevice_pool_trim() */
  void trim() { detail::call(arrowdevice_pool_trim, get()); }
  /** arrowdevice_device_set_pool(): the device keeps the pool alive by itself. */
  void make_default_of(Device device) { detail::call(arrowdevice_device_set_pool, device.get(), get()); }

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
    detail::call(arrowdevice_buffer_allocate, device.get(), pool_or_null == nullptr ? nullptr : pool_or_null->get(),
                 queue_or_null == nullptr ? nullptr : queue_or_null->get(), size, &data_);
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
  void free_after(const Queue& queue) noexcept { free(queue.get()); }

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
  /** arrowdevice_buffer_sub() */
  SubBuffer(const Buffer& parent, int64_t offset, int64_t size) : device_(parent.device()) {
    detail::call(arrowdevice_buffer_sub, device_.get(), static_cast<const void*>(parent.get()), offset, size, &data_);
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
  /** arrowdevice_buffer_sub_free() */
  void reset() noexcept {
    if (data_ != nullptr) arrowdevice_buffer_sub_free(device_.get(), std::exchange(data_, nullptr));
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

/** Owns an ArrowArrayStream. */
class ArrayStream : public detail::StructOwner<ArrowArrayStream> {
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
    detail::call(arrowdevice_array_export, device.get(), moved.get(),
                 written_on == nullptr ? nullptr : written_on->get(), out.get());
    return out;
  }
  /** arrowdevice_array_export_event() */
  static DeviceArray from_device(Device device, Array&& moved, void* sync_event,
                                 void (*event_release)(void* user, void* sync_event), void* user) {
    DeviceArray out;
    detail::call(arrowdevice_array_export_event, device.get(), moved.get(), sync_event, event_release, user, out.get());
    return out;
  }

  /** arrowdevice_array_device() */
  Device device() const {
    arrowdevice_device* device = nullptr;
    detail::call(arrowdevice_array_device, get(), &device);
    return device;
  }
  /** arrowdevice_array_copy(): always copies. */
  DeviceArray copy(const Schema& schema, Device to) const { return copy(schema, to, nullptr); }
  DeviceArray copy(const Schema& schema, Device to, const arrowdevice_copy_options& options) const {
    return copy(schema, to, &options);
  }
  /** arrowdevice_array_move_to(): shares where it can. */
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
  /** arrowdevice_array_ready() */
  bool ready(Device source = {}) const {
    int ready = 0;
    detail::call(arrowdevice_array_ready, get(), source.get(), &ready);
    return ready != 0;
  }
  /** arrowdevice_array_wait(): the CPU waits. */
  void wait(std::chrono::nanoseconds timeout = kForever, Device source = {}) const {
    detail::call(arrowdevice_array_wait, get(), source.get(), int64_t{timeout.count()});
  }
  /** arrowdevice_array_wait_on(): work queued later waits. */
  void wait_on(const Queue& queue, Device source = {}) const {
    detail::call(arrowdevice_array_wait_on, get(), source.get(), queue.get());
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
    detail::call(arrowdevice_array_move_to, get(), schema.get(), to.get(), options, out.get());
    return out;
  }
  Array to_host(const Schema& schema, const arrowdevice_copy_options* options) {
    Array out;
    detail::call(arrowdevice_array_to_host, get(), schema.get(), options, out.get());
    return out;
  }
};

/** Owns an ArrowDeviceArrayStream. */
class DeviceArrayStream : public detail::StructOwner<ArrowDeviceArrayStream> {
 public:
  using StructOwner::StructOwner;

  /** arrowdevice_stream_schema() */
  Schema schema() {
    Schema out;
    detail::call(arrowdevice_stream_schema, get(), out.get());
    return out;
  }
  /** arrowdevice_stream_next(): an empty owner marks the end. */
  DeviceArray next() {
    DeviceArray out;
    detail::call(arrowdevice_stream_next, get(), out.get());
    return out;
  }
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
  const arrowdevice_node& root() const noexcept { return *arrowdevice_view_root(get()); }
  /** The array, owned by the view. */
  const ArrowDeviceArray& array() const noexcept { return *arrowdevice_view_array(get()); }
  Device device() const noexcept { return arrowdevice_view_device(get()); }
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
  static arrowdevice_view* make(DeviceArray& moved, const Schema& schema, const arrowdevice_import_options* options) {
    arrowdevice_view* view = nullptr;
    detail::call(arrowdevice_array_import, moved.get(), schema.get(), options, &view);
    return view;
  }
};

/** arrowdevice_backend_load() */
inline void load_backend(const std::string& absolute_path) {
  detail::call(arrowdevice_backend_load, absolute_path.c_str());
}

/** arrowdevice_backend_explain(): every place looked at so far, in the order of looking. */
inline std::vector<arrowdevice_backend_report> explain_backends() {
  std::vector<arrowdevice_backend_report> reports;
  for (;;) {
    auto report = detail::sized<arrowdevice_backend_report>();
    arrowdevice_error error{};
    const int code = arrowdevice_backend_explain(static_cast<int64_t>(reports.size()), &report, &error);
    if (code == ENOENT) return reports;
    if (code != 0) throw Exception(code, error);
    reports.push_back(report);
  }
}

/** arrowdevice_set_manual_reaping() */
inline void set_manual_reaping(bool on) { detail::call(arrowdevice_set_manual_reaping, on ? 1 : 0); }

/** arrowdevice_reap(): how many pieces were ended. */
inline int64_t reap(int64_t max = -1) {
  int64_t done = 0;
  detail::call(arrowdevice_reap, max, &done);
  return done;
}

/** arrowdevice_quiesce() */
inline void quiesce(std::chrono::nanoseconds timeout = kForever) {
  detail::call(arrowdevice_quiesce, int64_t{timeout.count()});
}

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_ARROWDEVICE_HPP */
