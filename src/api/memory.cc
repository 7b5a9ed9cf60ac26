// SPDX-License-Identifier: Apache-2.0
// The C functions for queues, pools and buffers.
#include <cstdio>
#include <vector>

#include "api/handles.h"
#include "base/deadline.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sized_struct.h"
#include "device/deferred.h"
#include "device/devices.h"
#include "device/held_buffer.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::pool_of;
using api::queue_of;
using api::required;

namespace {

using device::PoolStats;

// Struct sizes in bytes in programs of the first release.
constexpr uint32_t kFirstNativeQueueSize = 16;
constexpr uint32_t kFirstPoolOptionsSize = 56;
constexpr uint32_t kFirstPoolStatsSize = 48;

// Returns the handle of a region's end for the queue's backend, or NULL for host memory. Throws EINVAL for a device of
// another backend.
void* region_end(arrowdevice_device* end, const device::Queue& queue, int64_t index) {
  if (end == nullptr) return nullptr;
  const auto& device = *api::from_c(end);
  if (device.is_cpu()) return nullptr;
  if (&device.backend() != &queue.device().backend()) {
    throw Error(EINVAL, "region " + std::to_string(index) + ": " + device.text() +
                            " is not of the backend of the queue on " + queue.device().text());
  }
  return device.handle();
}

// Counts the bytes of other devices. The queue counts only the bytes of its own device.
void count_other_ends(const arrowdevice_copy_region& region, const device::Device& counted) {
  if (region.size <= 0) return;
  const auto counts = [&](const device::Device* end) { return end != nullptr && end != &counted && !end->is_cpu(); };
  const auto* const to = api::from_c(region.dst_device);
  const auto* const from = api::from_c(region.src_device);
  if (counts(to)) device::Counters::add(to->counters().bytes_in, region.size);
  if (counts(from)) device::Counters::add(from->counters().bytes_out, region.size);
}

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_queue_create(arrowdevice_device* device, arrowdevice_queue** out,
                                             arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = new arrowdevice_queue(device::Queue::create(device_of(device)));
  });
}

ARROWDEVICE_API int arrowdevice_queue_wrap(arrowdevice_device* device, const arrowdevice_native_queue* native,
                                           arrowdevice_queue** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    const auto handles = read_sized(&required(native, "native"), kFirstNativeQueueSize, "native");
    *out = new arrowdevice_queue(device::Queue::wrap(device_of(device), handles));
  });
}

ARROWDEVICE_API int arrowdevice_queue_get_native(const arrowdevice_queue* queue, arrowdevice_native_queue* out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] { write_sized(out, queue_of(queue).native(), kFirstNativeQueueSize, "native"); });
}

ARROWDEVICE_API int arrowdevice_queue_finish(arrowdevice_queue* queue, int64_t timeout_ns, arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& of = queue_of(queue);
    if (!of.finish(timeout_ns))
      throw Error(ETIMEDOUT, "the queue's work on " + of.device().text() + " is not done in time");
  });
}

// Streams may hold a reference to the queue too.
ARROWDEVICE_API void arrowdevice_queue_destroy(arrowdevice_queue* queue) {
  if (queue != nullptr && queue->queue.use_count() > 1) queue->queue->give_native_back();
  delete queue;
}

ARROWDEVICE_API int arrowdevice_pool_create(arrowdevice_device* device, const arrowdevice_pool_options* options,
                                            arrowdevice_pool** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    const auto known = read_sized(options, kFirstPoolOptionsSize, "options");
    if (known.flags != 0) throw Error(EINVAL, format("options.flags has unknown bits 0x%x", known.flags));
    auto& of = device_of(device);
    of.check_usable();
    const auto pool = std::make_shared<device::Pool>(of, known, device::Pool::kApplicationOwned);
    pool->set_owner(pool);
    *out = api::to_c(pool.get());
  });
}

ARROWDEVICE_API int arrowdevice_pool_get_stats(const arrowdevice_pool* pool, PoolStats* out, arrowdevice_error* error) {
  return guarded(error, [&] { write_sized(out, pool_of(pool).stats(), kFirstPoolStatsSize, "stats"); });
}

ARROWDEVICE_API int arrowdevice_pool_trim(arrowdevice_pool* pool, arrowdevice_error* error) {
  return guarded(error, [&] { pool_of(pool).trim(); });
}

ARROWDEVICE_API void arrowdevice_pool_destroy(arrowdevice_pool* pool) {
  if (pool != nullptr) pool_of(pool).set_owner(nullptr);
}

ARROWDEVICE_API int arrowdevice_device_set_pool(arrowdevice_device* device, arrowdevice_pool* pool_or_null,
                                                arrowdevice_error* error) {
  return guarded(error, [&] { device_of(device).set_pool(api::share(pool_or_null)); });
}

ARROWDEVICE_API int arrowdevice_device_get_pool(const arrowdevice_device* device, arrowdevice_pool** out,
                                                arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = api::to_c(device_of(device).pool().get());
  });
}

ARROWDEVICE_API int arrowdevice_buffer_allocate(arrowdevice_device* device, arrowdevice_pool* pool_or_null,
                                                arrowdevice_queue* queue_or_null, int64_t size, void** out,
                                                arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    auto& of = device_of(device);
    if (size <= 0) throw Error(EINVAL, "a buffer of " + std::to_string(size) + " bytes");
    const auto pool = pool_or_null != nullptr ? api::share(pool_or_null) : of.pool();
    if (&pool->device() != &of)
      throw Error(EINVAL, "the pool is of " + pool->device().text() + ", not of " + of.text());
    auto* const queue = api::queue_or_null(queue_or_null);
    if (queue != nullptr && &queue->device() != &of) {
      throw Error(EINVAL, "the queue is of " + queue->device().text() + ", not of " + of.text());
    }
    auto allocation = pool->allocate(queue, size);
    void* const buffer = allocation.buffer();
    of.register_buffer(std::move(allocation));
    *out = buffer;
  });
}

ARROWDEVICE_API void arrowdevice_buffer_free(arrowdevice_device* device, arrowdevice_queue* queue_or_null,
                                             void* buffer) {
  if (buffer == nullptr) return;
  arrowdevice_error error{};
  const int code = guarded(&error, [&] {
    auto& of = device_of(device);
    if (!of.is_cpu() && !process::drivers_usable()) return;  // abandons the memory
    auto freed = of.let_go(buffer);
    if (queue_or_null == nullptr) return;
    auto& queue = queue_of(queue_or_null);
    try {
      freed->after = queue.record();
    } catch (...) {
      // There is no event to wait for, so the queue itself must be drained.
      if (!queue.drain()) device::DeferredWork::abandon(std::move(freed));
      throw;
    }
    device::DeferredWork::instance().defer(std::move(freed));
  });
  if (code == 0) return;
  char text[sizeof error.message + 16];  // there may be no memory for a string
  std::snprintf(text, sizeof text, "buffer_free: %s", error.message);
  log(LogLevel::kError, text);
}

ARROWDEVICE_API int arrowdevice_sub_buffer_create(arrowdevice_device* device, const void* buffer, int64_t offset,
                                                  int64_t size, void** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    if (buffer == nullptr) throw Error(EINVAL, "buffer is NULL");
    auto& of = device_of(device);
    of.check_not_unwrapped();
    if (offset < 0 || size <= 0) {
      throw Error(EINVAL, "a part of " + std::to_string(size) + " bytes at " + std::to_string(offset));
    }
    if (!of.has_addresses() && offset % of.info().sub_buffer_alignment != 0) {
      throw Error(EINVAL, "offset " + std::to_string(offset) + " is not a multiple of " +
                              std::to_string(of.info().sub_buffer_alignment) + ", as " + of.text() + " wants");
    }
    *out = of.sub_buffer_create(buffer, offset, size);
  });
}

ARROWDEVICE_API void arrowdevice_sub_buffer_destroy(arrowdevice_device* device, void* sub) {
  if (device != nullptr) api::from_c(device)->free_sub_buffer(sub);
}

ARROWDEVICE_API int arrowdevice_queue_copy(arrowdevice_queue* queue, const arrowdevice_copy_region* regions, int64_t n,
                                           arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& on = queue_of(queue);
    if (n < 0) throw Error(EINVAL, "n is negative");
    if (n > 0) required(regions, "regions");
    std::vector<arrowdevice_backend_region> known;
    known.reserve(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const auto& region = regions[i];
      const auto where = "region " + std::to_string(i) + ": ";
      if (region.size < 0 || region.dst_offset < 0 || region.src_offset < 0) {
        throw Error(EINVAL, where + "a size or offset is negative");
      }
      if (region.size == 0) continue;
      if (region.dst == nullptr || region.src == nullptr) throw Error(EINVAL, where + "an end is NULL");
      known.push_back({region_end(region.dst_device, on, i), region.dst, region.dst_offset,
                       region_end(region.src_device, on, i), region.src, region.src_offset, region.size, 0});
    }
    on.copy(known);
    for (int64_t i = 0; i < n; ++i) count_other_ends(regions[i], on.device());
  });
}

}  // extern "C"
