// SPDX-License-Identifier: Apache-2.0
#include "opencl/table.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "opencl/buffer.h"
#include "opencl/devices.h"
#include "opencl/event.h"
#include "opencl/query.h"
#include "opencl/queue.h"

namespace arrowdevice::opencl {
namespace {

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_OPENCL};

void check_type(ArrowDeviceType device_type) {
  if (device_type != ARROW_DEVICE_OPENCL) {
    throw Error(EINVAL,
                format("device type %d, where the OpenCL backend serves only %d", device_type, ARROW_DEVICE_OPENCL));
  }
}

Device& device_of(void* handle) { return *static_cast<Device*>(handle); }
Queue& queue_of(void* handle) { return *static_cast<Queue*>(handle); }
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }
cl_mem buffer_of(const void* handle) { return static_cast<cl_mem>(const_cast<void*>(handle)); }

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
// grown.
int device_get_info(void* device, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto& properties = device_of(device).properties();
    copy_text(out->name, properties.name);
    copy_text(out->vendor, properties.vendor);
    std::memcpy(out->uuid, properties.uuid.data(), sizeof out->uuid);
    out->total_memory = properties.total_memory;
    out->buffer_alignment = properties.alignment;
    out->sub_buffer_alignment = properties.alignment;
    out->flags = ARROWDEVICE_DEVICE_EVENTS;
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
    out->platform = ask_device<cl_platform_id>(described.native(), CL_DEVICE_PLATFORM);
    out->device = described.native();
    out->context = described.context();
  });
}

int device_get_peer_flags(void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    if (from == to) {
      *out = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
    } else {
      // Contexts cannot access each other's memory, even on the same driver and device.
      const bool is_direct = from == nullptr || to == nullptr || device_of(from).context() == device_of(to).context();
      *out = is_direct ? ARROWDEVICE_PEER_COPY : 0;
    }
  });
}

int device_locate(ArrowDeviceType device_type, int64_t id, const void* buffer, void* sync_event, void** device,
                  arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    check_type(device_type);
    auto* const event = sync_event != nullptr ? *static_cast<cl_event*>(sync_event) : nullptr;
    if (buffer == nullptr && event == nullptr) throw Error(EINVAL, "neither a cl_mem nor a cl_event to locate");
    *device = &Devices::instance().locate(id, buffer_of(buffer), event);
  });
}

// -- memory

int buffer_allocate(void* device, void*, int64_t size, int64_t alignment, void** out,
                    arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = allocate_buffer(device_of(device), size, alignment).take(); });
}

// Enqueued commands hold their own reference to a cl_mem.
void buffer_free(void*, void*, void* buffer) noexcept { Counting<cl_mem>::release(buffer_of(buffer)); }

int sub_buffer_create(void*, const void* buffer, int64_t offset, int64_t size, void** out,
                      arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = make_sub_buffer(buffer_of(buffer), offset, size).take(); });
}

void sub_buffer_destroy(void*, void* sub) noexcept { Counting<cl_mem>::release(buffer_of(sub)); }

// The driver knows only the context of a cl_mem, not its device. A sub-buffer is reported as a buffer with its own
// size.
int pointer_get_info(void*, const void* buffer, arrowdevice_pointer_info* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto size = known_size(buffer_of(buffer));
    out->flags = size ? ARROWDEVICE_POINTER_KNOWN : 0;
    out->device_type = size ? ARROW_DEVICE_OPENCL : 0;
    out->reserved = 0;
    out->device_id = -1;
    out->base = size ? const_cast<void*>(buffer) : nullptr;
    out->size = size.value_or(-1);
  });
}

// -- queues

int queue_create(void* device, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *queue = std::make_unique<Queue>(device_of(device)).release(); });
}

int queue_wrap(void* device, const arrowdevice_native_queue* native, void** queue, arrowdevice_error* error) noexcept {
  return guarded(
      error, [&] { *queue = Queue::wrap(device_of(device), static_cast<cl_command_queue>(native->queue)).release(); });
}

int queue_get_native(void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    out->queue = queue_of(queue).native();
    out->family = 0;
  });
}

void queue_destroy(void* queue) noexcept { delete static_cast<Queue*>(queue); }

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

int event_publish(void* event, void** sync_event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *sync_event = event_of(event).publish(); });
}

int event_import(void*, void* sync_event, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    auto* const foreign = *static_cast<cl_event*>(sync_event);
    if (foreign == nullptr) throw Error(EINVAL, "sync_event points to a cl_event that is NULL");
    *event = std::make_unique<Event>(Event::import(foreign)).release();
  });
}

void event_destroy(void* event) noexcept { delete static_cast<Event*>(event); }

}  // namespace

const arrowdevice_backend& table() {
  static const arrowdevice_backend made = [] {
    arrowdevice_backend table{};
    table.struct_size = sizeof table;
    table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
    table.name = "opencl";
    table.version = ARROWDEVICE_OPENCL_VERSION;
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
    table.event_publish = event_publish;
    table.event_import = event_import;
    table.sub_buffer_create = sub_buffer_create;
    table.sub_buffer_destroy = sub_buffer_destroy;
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

}  // namespace arrowdevice::opencl
