// SPDX-License-Identifier: Apache-2.0
// The opaque structs of the C API and the objects behind them.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <cerrno>
#include <memory>

#include "base/error.h"
#include "device/device.h"
#include "device/pool.h"
#include "device/queue.h"
#include "inspect/view.h"
#include "transfer/move.h"

// A queue handle of the application.
struct arrowdevice_queue {
  explicit arrowdevice_queue(std::shared_ptr<arrowdevice::device::Queue> held)
      : use(held->device()), queue(std::move(held)) {}

  arrowdevice::device::DeviceUse use;  // outlives the queue
  std::shared_ptr<arrowdevice::device::Queue> queue;
};

struct arrowdevice_view {
  arrowdevice::inspect::View view;
};

namespace arrowdevice::api {

// Converts a device to its C name. The C side never creates devices and pools, so their opaque structs are only names.
inline arrowdevice_device* to_c(device::Device* device) noexcept {
  return reinterpret_cast<arrowdevice_device*>(device);
}
inline arrowdevice_pool* to_c(device::Pool* pool) noexcept { return reinterpret_cast<arrowdevice_pool*>(pool); }

[[noreturn, gnu::cold]] void refuse_null(const char* name);

// Throws EINVAL for a NULL argument.
template <typename T>
[[gnu::always_inline]] inline T& required(T* argument, const char* name) {
  if (argument == nullptr) [[unlikely]]
    refuse_null(name);
  return *argument;
}

// Sets an out pointer to NULL first, so that it is NULL after a failure.
template <typename T>
void prepare(T** out) {
  required(out, "out");
  *out = nullptr;
}

// Throws EINVAL if `out` is an input too. Marks an out struct as released, so that it is released after a failure.
inline void prepare(ArrowDeviceArray* out, const void* input) {
  required(out, "out");
  if (out == input || &out->array == input) throw Error(EINVAL, "out is also an input");
  out->array.release = nullptr;
}

inline void prepare(ArrowArray* out, const ArrowDeviceArray* input) {
  required(out, "out");
  if (input != nullptr && out == &input->array) throw Error(EINVAL, "out is also an input");
  out->release = nullptr;
}

inline device::Device* from_c(const arrowdevice_device* device) noexcept {
  return reinterpret_cast<device::Device*>(const_cast<arrowdevice_device*>(device));
}
inline device::Device& device_of(const arrowdevice_device* device) { return required(from_c(device), "device"); }

inline device::Pool& pool_of(const arrowdevice_pool* pool) {
  return required(reinterpret_cast<device::Pool*>(const_cast<arrowdevice_pool*>(pool)), "pool");
}
inline std::shared_ptr<device::Pool> share(arrowdevice_pool* pool_or_null) {
  return pool_or_null != nullptr ? pool_of(pool_or_null).shared_from_this() : nullptr;
}

inline device::Queue& queue_of(const arrowdevice_queue* queue) { return *required(queue, "queue").queue; }
inline device::Queue* queue_or_null(const arrowdevice_queue* queue) noexcept {
  return queue != nullptr ? queue->queue.get() : nullptr;
}

transfer::CopyOptions read_copy_options(const arrowdevice_copy_options* given);

// Returns copy options that have only flags. `name` is the name of the flags member for messages.
transfer::CopyOptions read_copy_flags(uint32_t flags, const char* name);

// Returns the level of validation for its number in the C API.
inspect::Level read_level(int level);

}  // namespace arrowdevice::api
