// SPDX-License-Identifier: Apache-2.0
// The C functions for devices.
#include "device/devices.h"

#include "api/handles.h"
#include "backend/device_types.h"
#include "base/deadline.h"
#include "base/kept_blocks.h"
#include "base/sized_struct.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::required;
using api::to_c;

namespace {

// Struct sizes in bytes in programs of the first release.
constexpr uint32_t kFirstInfoSize = 280;
constexpr uint32_t kFirstCountersSize = 80;
constexpr uint32_t kFirstNativeSize = 104;

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_device_find_by_id(ArrowDeviceType device_type, int64_t device_id,
                                                  arrowdevice_device** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = to_c(&device::Devices::instance().get(device_type, device_id));
  });
}

ARROWDEVICE_API int arrowdevice_device_find_by_name(const char* name, arrowdevice_device** out,
                                                    arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    *out = to_c(&device::Devices::instance().find(&required(name, "name")));
  });
}

ARROWDEVICE_API int arrowdevice_device_count(ArrowDeviceType device_type, int64_t* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out") = 0;
    *out = device::Devices::instance().count(device_type);
  });
}

ARROWDEVICE_API int arrowdevice_device_list(arrowdevice_device** out, int64_t capacity, int64_t* count,
                                            arrowdevice_error* error) {
  return guarded(error, [&] {
    required(count, "count") = 0;
    if (capacity < 0) throw Error(EINVAL, "capacity is negative");
    if (capacity > 0) required(out, "out");
    const auto devices = device::Devices::instance().list();
    for (size_t i = 0; i < devices.size() && static_cast<int64_t>(i) < capacity; ++i) out[i] = to_c(devices[i]);
    *count = static_cast<int64_t>(devices.size());
  });
}

ARROWDEVICE_API int arrowdevice_device_get_info(const arrowdevice_device* device, arrowdevice_device_info* out,
                                                arrowdevice_error* error) {
  return guarded(error, [&] {
    const auto& of = device_of(device);
    of.check_not_unwrapped();
    arrowdevice_device_info info = of.info();
    if (of.is_wrapped()) info.flags |= ARROWDEVICE_DEVICE_WRAPPED;
    write_sized(out, info, kFirstInfoSize, "info");
  });
}

ARROWDEVICE_API int arrowdevice_device_get_peer_flags(const arrowdevice_device* from, const arrowdevice_device* to,
                                                      uint32_t* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out") = 0;
    auto& source = required(api::from_c(from), "from");
    auto& target = required(api::from_c(to), "to");
    source.check_usable();
    target.check_usable();
    *out = device::peer_flags(source, target);
  });
}

ARROWDEVICE_API const char* arrowdevice_device_type_get_name(ArrowDeviceType device_type) {
  const auto* info = backend::find_device_type(device_type);
  return info != nullptr ? info->name : nullptr;
}

ARROWDEVICE_API int arrowdevice_device_get_memory_info(const arrowdevice_device* device, int64_t* free_bytes,
                                                       int64_t* total_bytes, arrowdevice_error* error) {
  return guarded(error, [&] {
    int64_t now_free = -1;
    int64_t in_all = -1;
    device_of(device).memory_info(&now_free, &in_all);
    if (free_bytes != nullptr) *free_bytes = now_free;
    if (total_bytes != nullptr) *total_bytes = in_all;
  });
}

ARROWDEVICE_API int arrowdevice_device_get_counters(const arrowdevice_device* device, arrowdevice_device_counters* out,
                                                    arrowdevice_error* error) {
  return guarded(error, [&] {
    const auto& of = device_of(device);
    of.check_not_unwrapped();
    const auto& counters = of.counters();
    arrowdevice_device_counters values{};
    values.driver_allocations = counters.buffers;
    values.submissions = counters.submissions;
    values.regions = counters.regions;
    values.events = counters.events;
    values.host_waits = counters.host_waits;
    values.readbacks = counters.readbacks;
    const int64_t copied_bytes = of.is_cpu() ? kept_blocks::copied_bytes() : 0;
    values.bytes_in = counters.bytes_in + copied_bytes;
    values.bytes_out = counters.bytes_out + copied_bytes;
    values.staged_bytes = counters.staged_bytes;
    write_sized(out, values, kFirstCountersSize, "counters");
  });
}

ARROWDEVICE_API int arrowdevice_device_wrap(ArrowDeviceType device_type, int64_t device_id,
                                            const arrowdevice_native_device* native, arrowdevice_device** out,
                                            arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    const auto handles = read_sized(&required(native, "native"), kFirstNativeSize, "native");
    *out = to_c(&device::Devices::instance().wrap(device_type, device_id, handles));
  });
}

ARROWDEVICE_API int arrowdevice_device_unwrap(arrowdevice_device* device, int64_t timeout_ns,
                                              arrowdevice_error* error) {
  return guarded(error, [&] { device::Devices::instance().unwrap(device_of(device), Deadline(timeout_ns)); });
}

ARROWDEVICE_API int arrowdevice_device_get_native(const arrowdevice_device* device, arrowdevice_native_device* out,
                                                  arrowdevice_error* error) {
  return guarded(error, [&] {
    auto& of = device_of(device);
    of.check_usable();
    const auto& backend = of.backend();
    backend.require("device_get_native", backend.table().device_get_native);
    arrowdevice_native_device native{};
    native.struct_size = sizeof native;
    backend.call("device_get_native", backend.table().device_get_native, of.handle(), &native);
    write_sized(out, native, kFirstNativeSize, "native");
  });
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

}  // extern "C"
