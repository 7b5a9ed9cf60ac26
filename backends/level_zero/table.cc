// SPDX-License-Identifier: Apache-2.0
// The backend table, and the plugin's entry point, which is its only exported symbol.
#include <arrowdevice/backend.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/plugin_entry.h"
#include "base/text.h"
#include "level_zero/device.h"
#include "level_zero/devices.h"
#include "level_zero/queue.h"
#include "level_zero/sycl_event.h"

namespace arrowdevice::level_zero {
namespace {

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_ONEAPI};

// Alignment that kernels need. Drivers allocate whole pages.
constexpr int64_t kAlignment = 64;

void check_type(ArrowDeviceType device_type) {
  if (device_type != ARROW_DEVICE_ONEAPI) {
    throw Error(EINVAL, format("device type %d, where the Level Zero backend serves only %d", device_type,
                               ARROW_DEVICE_ONEAPI));
  }
}

Device& device_of(void* handle) { return *static_cast<Device*>(handle); }
Queue& queue_of(void* handle) { return *static_cast<Queue*>(handle); }
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

// -- devices

int device_count(ArrowDeviceType device_type, int64_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    check_type(device_type);
    *out = Devices::instance().count();
  });
}

int device_open(ArrowDeviceType device_type, int64_t id, void** device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    check_type(device_type);
    *device = &Devices::instance().open(id);
  });
}

// Writes each member separately, because the library may be older or newer than this plugin and the struct may have
// grown. The CPU waits for a sycl::event.
int device_get_info(void* device, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto& properties = device_of(device).properties();
    copy_text(out->name, properties.name);
    copy_text(out->vendor, properties.vendor);
    std::memcpy(out->uuid, properties.uuid.data(), sizeof out->uuid);
    out->total_memory = properties.total_memory;
    out->buffer_alignment = kAlignment;
    out->sub_buffer_alignment = kAlignment;
    out->flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_WAIT_BLOCKS;
    out->staging_type = 0;
    out->reserved = 0;
  });
}

int device_wrap(ArrowDeviceType device_type, int64_t id, const arrowdevice_native_device* native, void** device,
                arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    check_type(device_type);
    *device = &Devices::instance().wrap(id, *native);
  });
}

int device_unwrap(void* device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { Devices::instance().unwrap(device_of(device)); });
}

int device_get_native(void* device, arrowdevice_native_device* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto& described = device_of(device);
    out->platform = Devices::instance().driver_of(described);
    out->device = described.physical().native();
    out->context = described.context().native();
  });
}

int device_get_peer_flags(void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = peer_flags(static_cast<const Device*>(from), static_cast<const Device*>(to)); });
}

int device_locate(ArrowDeviceType device_type, int64_t id, const void* buffer, void*, void** device,
                  arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    check_type(device_type);
    *device = &Devices::instance().locate(id, buffer);
  });
}

int pointer_get_info(void* handle, const void* buffer, arrowdevice_pointer_info* out,
                     arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto& device = device_of(handle);
    const auto found = device.physical().use([&] { return find_allocation(device.context().native(), buffer); });
    const bool is_readable = found && found->type != ZE_MEMORY_TYPE_DEVICE;
    auto* const owner = found && found->device != nullptr ? found->device : device.physical().native();
    out->flags = (found ? ARROWDEVICE_POINTER_KNOWN : 0) | (is_readable ? ARROWDEVICE_POINTER_HOST_READABLE : 0);
    out->device_type = found ? ARROW_DEVICE_ONEAPI : 0;
    out->reserved = 0;
    out->device_id = found ? Devices::instance().id_of(owner) : -1;
    out->base = found ? found->base : nullptr;
    out->size = found ? static_cast<int64_t>(found->size) : -1;
  });
}

// -- memory

int buffer_allocate(void* device, void*, int64_t size, int64_t alignment, void** out,
                    arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = device_of(device).allocate(size, alignment); });
}

void buffer_free(void* device, void* queue, void* buffer) noexcept {
  if (queue != nullptr) {
    queue_of(queue).free_behind(buffer);
  } else {
    device_of(device).free(buffer);
    device_of(device).context().unfinished().sweep();
  }
}

// -- queues

int queue_create(void* device, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *queue = std::make_unique<Queue>(device_of(device)).release(); });
}

int queue_wrap(void* device, const arrowdevice_native_queue* native, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    auto* const list = static_cast<ze_command_list_handle_t>(native->queue);
    *queue = std::make_unique<Queue>(device_of(device), list).release();
  });
}

int queue_get_native(void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    out->queue = queue_of(queue).native();
    out->family = 0;
  });
}

void queue_destroy(void* queue) noexcept { delete &queue_of(queue); }

int queue_copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    if (n < 0) throw Error(EINVAL, format("%lld regions", static_cast<long long>(n)));
    queue_of(queue).copy({regions, static_cast<size_t>(n)});
  });
}

// -- events

int event_record(void* queue, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *event = queue_of(queue).record().release(); });
}

int event_query(void* event, int* ready, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *ready = event_of(event).is_ready() ? 1 : 0; });
}

int event_wait(void* event, int64_t timeout_ns, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { event_of(event).wait(timeout_ns); });
}

int queue_wait_event(void* queue, void* event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { queue_of(queue).wait_for(event_of(event)); });
}

int event_import(void*, void* sync_event, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    std::unique_ptr<Event> imported = std::make_unique<SyclEvent>(sync_event);
    *event = imported.release();
  });
}

void event_destroy(void* event) noexcept { delete static_cast<Event*>(event); }

const arrowdevice_backend& table() {
  static const arrowdevice_backend made = [] {
    arrowdevice_backend table{};
    table.struct_size = sizeof table;
    table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
    table.name = "level_zero";
    table.version = ARROWDEVICE_LEVEL_ZERO_VERSION;
    table.device_types = kDeviceTypes;
    table.n_device_types = 1;
    table.device_count = device_count;
    table.device_open = device_open;
    table.device_get_info = device_get_info;
    table.buffer_allocate = buffer_allocate;
    table.buffer_free = buffer_free;
    table.queue_create = queue_create;
    table.queue_destroy = queue_destroy;
    table.queue_copy = queue_copy;
    table.event_record = event_record;
    table.event_query = event_query;
    table.event_wait = event_wait;
    table.queue_wait_event = queue_wait_event;
    table.event_destroy = event_destroy;
    table.event_import = event_import;
    table.queue_wrap = queue_wrap;
    table.queue_get_native = queue_get_native;
    table.device_wrap = device_wrap;
    table.device_unwrap = device_unwrap;
    table.device_get_native = device_get_native;
    table.device_get_peer_flags = device_get_peer_flags;
    table.device_locate = device_locate;
    table.pointer_get_info = pointer_get_info;
    return table;
  }();
  return made;
}

}  // namespace
}  // namespace arrowdevice::level_zero

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("Level Zero", host_abi, error, arrowdevice::level_zero::table);
}
