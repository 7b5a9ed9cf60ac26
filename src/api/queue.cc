// SPDX-License-Identifier: Apache-2.0
// The C functions for queues.
#include "device/queue.h"

#include <algorithm>
#include <span>
#include <vector>

#include "api/handles.h"
#include "array/locate.h"
#include "base/sized_struct.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::queue_of;
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstNativeQueueSize = 16;

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

// Returns true if a device with ARROWDEVICE_DEVICE_COPY_BLOCKS may wait in a copy: for host memory that its driver does
// not know, and for host memory at both ends.
bool may_block(const arrowdevice_copy_region& region, const device::Device& device) {
  const auto is_of_host = [](const device::Device* end) {
    return end == nullptr || end->is_cpu() || end->type() == end->info().staging_type;
  };
  const auto is_unknown = [&](const device::Device* end, const void* memory, int64_t offset) {
    if (end != nullptr && !end->is_cpu()) return false;
    const auto info = device.pointer_info(static_cast<const char*>(memory) + offset);
    return !info || info->device_type == ARROW_DEVICE_CPU;
  };
  const auto* const to = api::from_c(region.dst_device);
  const auto* const from = api::from_c(region.src_device);
  return region.size > 0 && ((is_of_host(to) && is_of_host(from)) || is_unknown(to, region.dst, region.dst_offset) ||
                             is_unknown(from, region.src, region.src_offset));
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
    // The driver would wait for this work too, but other calls of the queue would then wait for the driver.
    const auto blocks = [&](const auto& region) { return may_block(region, on.device()); };
    if (on.device().blocks_on_pageable() && on.has_work_of_others() &&
        std::ranges::any_of(std::span(regions, static_cast<size_t>(n)), blocks)) {
      on.finish(ARROWDEVICE_NO_TIMEOUT);
    }
    on.copy(known);
    for (int64_t i = 0; i < n; ++i) count_other_ends(regions[i], on.device());
  });
}

ARROWDEVICE_API int arrowdevice_queue_wait_array(arrowdevice_queue* queue, const ArrowDeviceArray* array,
                                                 arrowdevice_device* source_device, arrowdevice_error* error) {
  return guarded(error, [&] {
    array::check_alive(array);
    array::wait_on(*array, api::from_c(source_device), queue_of(queue));
  });
}

ARROWDEVICE_API int arrowdevice_queue_finish(arrowdevice_queue* queue, int64_t timeout_ns, arrowdevice_error* error) {
  return guarded(error, [&] { queue_of(queue).finish_in_time(Deadline(timeout_ns)); });
}

// Streams may hold a reference to the queue too.
ARROWDEVICE_API void arrowdevice_queue_destroy(arrowdevice_queue* queue) {
  if (queue != nullptr && queue->queue.use_count() > 1) queue->queue->give_native_back();
  delete queue;
}

}  // extern "C"
