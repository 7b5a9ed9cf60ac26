/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file array.hpp
 * Schemas and arrays. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_ARRAY_HPP
#define ARROWDEVICE_CPP_ARRAY_HPP

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "device.hpp"
#include "owner.hpp"

namespace arrowdevice {
namespace cpp {

/**
 * Makes options with `struct_size` and these flags (a sum of ARROWDEVICE_COPY_*). All other members
 * are 0.
 */
inline arrowdevice_copy_options copy_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_copy_options>();
  options.flags = flags;
  return options;
}

/** Owns an ArrowSchema. */
class Schema : public detail::StructOwner<ArrowSchema> {
 public:
  using StructOwner::StructOwner;
  /** Calls arrowdevice_schema_copy(). */
  static Schema copy_of(const ArrowSchema& schema) {
    Schema copy;
    detail::call(arrowdevice_schema_copy, &schema, copy.get());
    return copy;
  }
};

/** Owns an ArrowArray, which is in host memory. */
class Array : public detail::StructOwner<ArrowArray> {
 public:
  using StructOwner::StructOwner;
};

/**
 * Owns a handle, which gives an array to another process (see ipc.h). The bytes and descriptors also
 * are members of the struct: `handle->bytes`.
 */
class IpcHandle : public detail::StructOwner<arrowdevice_ipc_handle> {
 public:
  using StructOwner::StructOwner;

  /** Returns a copy of the bytes. */
  std::vector<uint8_t> bytes() const {
    const arrowdevice_ipc_handle& held = *detail::held_by(*this, "handle");
    return std::vector<uint8_t>(held.bytes, held.bytes + held.size);
  }
  /** Returns the numbers of the descriptors, which this object still owns. */
  std::vector<int> descriptors() const {
    const arrowdevice_ipc_handle& held = *detail::held_by(*this, "handle");
    return std::vector<int>(held.descriptors, held.descriptors + held.n_descriptors);
  }
};

/** Owns an ArrowDeviceArray. */
class DeviceArray : public detail::StructOwner<ArrowDeviceArray> {
 public:
  using StructOwner::StructOwner;

  /** Calls arrowdevice_array_from_host(). */
  static DeviceArray from_host(Array&& moved) {
    DeviceArray out;
    detail::call(arrowdevice_array_from_host, moved.get(), out.get());
    return out;
  }
  /** Calls arrowdevice_array_export(). If `producer_queue` is NULL, the data is ready. */
  static DeviceArray from_device(Device device, Array&& moved, const Queue* producer_queue = nullptr) {
    DeviceArray out;
    detail::call(arrowdevice_array_export, device.get(), moved.get(), detail::held_by(producer_queue, "queue"),
                 out.get());
    return out;
  }
  /** Calls arrowdevice_array_export_event(). */
  static DeviceArray from_device(Device device, Array&& moved, void* sync_event,
                                 void (*event_release)(void* user, void* sync_event), void* user) {
    DeviceArray out;
    detail::call(arrowdevice_array_export_event, device.get(), moved.get(), sync_event, event_release, user, out.get());
    return out;
  }

  /**
   * Calls arrowdevice_array_open_ipc_handle(). Returns the array and its type. The caller closes the
   * descriptors.
   */
  static std::pair<DeviceArray, Schema> open_ipc_handle(const std::vector<uint8_t>& bytes,
                                                        const std::vector<int>& descriptors,
                                                        const arrowdevice_copy_options& options = copy_options()) {
    std::pair<DeviceArray, Schema> out;
    detail::call(arrowdevice_array_open_ipc_handle, bytes.data(), static_cast<int64_t>(bytes.size()),
                 descriptors.data(), static_cast<int64_t>(descriptors.size()), &options, out.first.get(),
                 out.second.get());
    return out;
  }

  /** Calls arrowdevice_array_get_device(). */
  Device device() const {
    arrowdevice_device* device = nullptr;
    detail::call(arrowdevice_array_get_device, get(), &device);
    return device;
  }
  /**
   * Calls arrowdevice_array_copy(), which always copies. After an error with ETIMEDOUT or ECANCELED,
   * keep this array until wait_idle() has succeeded. `share().to_device()` with
   * ARROWDEVICE_COPY_ALWAYS needs no such care.
   */
  DeviceArray copy(const Schema& schema, Device to) const { return copy(schema, to, nullptr); }
  DeviceArray copy(const Schema& schema, Device to, const arrowdevice_copy_options& options) const {
    return copy(schema, to, &options);
  }
  /** Calls arrowdevice_array_to_device(), which shares the memory if it can. */
  DeviceArray to_device(const Schema& schema, Device to) && { return to_device(schema, to, nullptr); }
  DeviceArray to_device(const Schema& schema, Device to, const arrowdevice_copy_options& options) && {
    return to_device(schema, to, &options);
  }
  /** Calls arrowdevice_array_to_host(). The data is ready on return. */
  Array to_host(const Schema& schema) && { return to_host(schema, nullptr); }
  Array to_host(const Schema& schema, const arrowdevice_copy_options& options) && { return to_host(schema, &options); }
  /**
   * Calls arrowdevice_array_to_host_async(), which copies while the caller goes on. If the copy fails, the
   * array is released, and `get()` of the future throws Exception.
   */
  std::future<Array> to_host_async(const Schema& schema) && { return to_host_async(schema, nullptr); }
  std::future<Array> to_host_async(const Schema& schema, const arrowdevice_copy_options& options) && {
    return to_host_async(schema, &options);
  }
  /** Calls arrowdevice_array_share(). This array becomes a shared owner. */
  DeviceArray share() {
    DeviceArray out;
    detail::call(arrowdevice_array_share, get(), out.get());
    return out;
  }
  /** Calls arrowdevice_array_slice(). */
  DeviceArray slice(const Schema& schema, int64_t offset, int64_t length) {
    DeviceArray out;
    detail::call(arrowdevice_array_slice, get(), schema.get(), offset, length, out.get());
    return out;
  }
  /** Calls arrowdevice_array_select(). Returns the columns and their schema. */
  std::pair<DeviceArray, Schema> select(const Schema& schema, const std::vector<int64_t>& children) {
    std::pair<DeviceArray, Schema> out;
    detail::call(arrowdevice_array_select, get(), schema.get(), children.data(), static_cast<int64_t>(children.size()),
                 out.first.get(), out.second.get());
    return out;
  }
  /** Calls arrowdevice_array_get_ipc_handle(). This array becomes a shared owner, unless it is copied. */
  IpcHandle ipc_handle(const Schema& schema) { return ipc_handle(schema, nullptr); }
  IpcHandle ipc_handle(const Schema& schema, const arrowdevice_copy_options& options) {
    return ipc_handle(schema, &options);
  }
  /** Calls arrowdevice_array_is_ready(). */
  bool is_ready(Device source = {}) const {
    int ready = 0;
    detail::call(arrowdevice_array_is_ready, get(), source.get(), &ready);
    return ready != 0;
  }
  /** Calls arrowdevice_array_open_eventfd(). The caller closes the descriptor. */
  int open_eventfd(Device source = {}) const {
    int descriptor = -1;
    detail::call(arrowdevice_array_open_eventfd, get(), source.get(), &descriptor);
    return descriptor;
  }
  /**
   * Calls arrowdevice_array_wait(), which makes the CPU wait. Queue::wait_array() makes a queue
   * wait.
   */
  void wait(std::chrono::nanoseconds timeout = kNoTimeout, Device source = {}) const {
    detail::call(arrowdevice_array_wait, get(), source.get(), detail::timeout_ns(timeout));
  }
  /**
   * Calls arrowdevice_array_release_after(): the array is released when the queue's work so far has
   * finished.
   */
  void release_after(const Queue& queue) && { detail::call(arrowdevice_array_release_after, get(), queue.get()); }
  /** Calls arrowdevice_array_validate(). */
  void validate(const Schema& schema, int level = ARROWDEVICE_VALIDATE_STRUCTURE, Device source = {}) const {
    detail::call(arrowdevice_array_validate, get(), schema.get(), source.get(), level);
  }

 private:
  DeviceArray copy(const Schema& schema, Device to, const arrowdevice_copy_options* options) const {
    DeviceArray out;
    detail::call(arrowdevice_array_copy, get(), schema.get(), to.get(), options, out.get());
    return out;
  }
  DeviceArray to_device(const Schema& schema, Device to, const arrowdevice_copy_options* options) {
    DeviceArray out;
    detail::call(arrowdevice_array_to_device, get(), schema.get(), to.get(), options, out.get());
    return out;
  }
  Array to_host(const Schema& schema, const arrowdevice_copy_options* options) {
    Array out;
    detail::call(arrowdevice_array_to_host, get(), schema.get(), options, out.get());
    return out;
  }
  IpcHandle ipc_handle(const Schema& schema, const arrowdevice_copy_options* options) {
    IpcHandle out;
    detail::call(arrowdevice_array_get_ipc_handle, get(), schema.get(), options, out.get());
    return out;
  }
  std::future<Array> to_host_async(const Schema& schema, const arrowdevice_copy_options* options) {
    std::unique_ptr<std::promise<Array>> promise(new std::promise<Array>());
    std::future<Array> out = promise->get_future();
    detail::call(arrowdevice_array_to_host_async, get(), schema.get(), options, &DeviceArray::keep_promise,
                 static_cast<void*>(promise.get()));
    static_cast<void>(promise.release());  // keep_promise() destroys it
    return out;
  }
  static void keep_promise(void* user, ArrowArray* array, ArrowDeviceArray*, const arrowdevice_error* error) {
    const std::unique_ptr<std::promise<Array>> promise(static_cast<std::promise<Array>*>(user));
    if (error == nullptr) {
      promise->set_value(Array(array));
    } else {
      promise->set_exception(std::make_exception_ptr(Exception(error->code, *error)));
    }
  }
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_ARRAY_HPP */
