// SPDX-License-Identifier: Apache-2.0
// The C functions for pools, buffers and sub-buffers.
#include <cstdio>

#include "api/handles.h"
#include "base/log.h"
#include "base/process.h"
#include "base/sized_struct.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::pool_of;

namespace {

using device::PoolStats;

// Struct sizes in bytes in programs of the first release.
constexpr uint32_t kFirstPoolOptionsSize = 56;
constexpr uint32_t kFirstPoolStatsSize = 48;

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_pool_create(arrowdevice_device* device, const arrowdevice_pool_options* options,
                                            arrowdevice_pool** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    const auto known = read_sized(options, kFirstPoolOptionsSize, "options");
    constexpr uint32_t kFlags = ARROWDEVICE_POOL_WAIT_FOR_CONTEXT | ARROWDEVICE_POOL_SHAREABLE;
    if ((known.flags & ~kFlags) != 0) {
      throw Error(EINVAL, format("options.flags has unknown bits 0x%x", known.flags & ~kFlags));
    }
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
    auto buffer = pool->allocate(queue, size, device::Holder::kApplication);
    if (queue != nullptr) buffer.order_after(*queue);
    *out = of.buffers().add(std::move(buffer));
  });
}

ARROWDEVICE_API void arrowdevice_buffer_free(arrowdevice_device* device, arrowdevice_queue* queue_or_null,
                                             void* buffer) {
  if (buffer == nullptr) return;
  arrowdevice_error error{};
  const int code = guarded(&error, [&] {
    auto& of = device_of(device);
    if (!of.is_cpu() && !process::drivers_usable()) return;  // abandons the memory
    of.buffers().free(buffer, api::queue_or_null(queue_or_null));
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
      throw Error(EINVAL, "a sub-buffer of " + std::to_string(size) + " bytes at offset " + std::to_string(offset));
    }
    if (!of.has_addresses() && offset % of.info().sub_buffer_alignment != 0) {
      throw Error(EINVAL, "offset " + std::to_string(offset) + " is not a multiple of " +
                              std::to_string(of.info().sub_buffer_alignment) + ", as " + of.text() + " wants");
    }
    *out = of.sub_buffer_create(buffer, offset, size);
  });
}

ARROWDEVICE_API void arrowdevice_sub_buffer_destroy(arrowdevice_device* device, void* sub) {
  if (device != nullptr) api::from_c(device)->sub_buffer_destroy(sub);
}

}  // extern "C"
