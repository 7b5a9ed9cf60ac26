// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/table.h"

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/plugin_entry.h"
#include "base/text.h"
#include "cuda_like/device.h"
#include "cuda_like/queue.h"

namespace arrowdevice::cuda_like {
namespace {

// Alignment of every kind of memory, as the drivers allocate it.
constexpr int64_t kAlignment = 256;

// The entry point sets this once before it returns the table.
Gpus* gpus = nullptr;

Device& device_of(void* handle) { return *static_cast<Device*>(handle); }
Queue& queue_of(void* handle) { return *static_cast<Queue*>(handle); }
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }

// -- devices

int device_count(ArrowDeviceType type, int64_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = gpus->count(type); });
}

int device_open(ArrowDeviceType type, int64_t id, void** device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *device = &gpus->open(type, id); });
}

// Pinned memory belongs to the primary context. The backend does not create that context for a wrapped device, because
// the driver copies pageable memory itself.
bool has_staging(Gpu& gpu) { return !gpu.is_wrapped() || gpu.driver().has_primary_context(gpu.ordinal()); }

// Writes each member separately, because the library may be older or newer than this plugin and the struct may have
// grown.
int device_get_info(void* handle, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const Device& device = device_of(handle);
    const Properties& properties = device.gpu.properties();
    copy_text(out->name, properties.name.c_str());
    copy_text(out->vendor, device.gpu.driver().vendor());
    std::memcpy(out->uuid, properties.uuid.data(), sizeof out->uuid);
    // Pinned memory belongs to the host, and the driver does not report its size.
    out->total_memory = device.kind == MemoryKind::kPinned ? -1 : properties.total_memory;
    out->buffer_alignment = kAlignment;
    out->sub_buffer_alignment = 1;
    out->flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_EVENTS |
                 (device.is_host_readable() ? ARROWDEVICE_DEVICE_HOST_READABLE : 0);
    out->staging_type = has_staging(device.gpu) ? gpus->type_of(MemoryKind::kPinned) : 0;
    out->reserved = 0;
  });
}

int device_wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device* native, void** device,
                arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *device = &gpus->wrap(type, id, native->context); });
}

int device_unwrap(void* device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { gpus->unwrap(device_of(device)); });
}

int device_get_native(void* handle, arrowdevice_native_device* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    Gpu& gpu = device_of(handle).gpu;
    out->api_version = static_cast<uint32_t>(gpu.driver().api_version());
    out->device = reinterpret_cast<void*>(static_cast<intptr_t>(gpu.ordinal()));
    out->context = gpu.context();
  });
}

int device_get_peer_flags(void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = peer_flags(static_cast<Device*>(from), static_cast<Device*>(to)); });
}

void fill(arrowdevice_pointer_info* out, const std::optional<PointerFacts>& facts) {
  const bool is_host = facts && facts->kind != MemoryKind::kDevice;
  out->flags = (facts ? ARROWDEVICE_POINTER_KNOWN : 0) | (is_host ? ARROWDEVICE_POINTER_HOST_READABLE : 0);
  out->device_type = facts ? gpus->type_of(facts->kind) : 0;
  out->reserved = 0;
  out->device_id = facts ? facts->ordinal : -1;
  out->base = facts ? facts->base : nullptr;
  out->size = facts ? facts->size : -1;
}

int pointer_get_info(void* handle, const void* buffer, arrowdevice_pointer_info* out,
                     arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    fill(out, device_of(handle).gpu.use([&](Driver& driver) { return driver.find_pointer(buffer); }));
  });
}

int device_locate(ArrowDeviceType type, int64_t id, const void* buffer, void*, void** out,
                  arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = &gpus->locate(type, id, buffer); });
}

int device_get_memory_info(void* handle, int64_t* free_bytes, int64_t* total_bytes, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const Device& device = device_of(handle);
    if (device.kind == MemoryKind::kPinned) {
      *free_bytes = *total_bytes = -1;
      return;
    }
    device.gpu.use([&](Driver& driver) { driver.device_get_memory_info(free_bytes, total_bytes); });
  });
}

// -- memory

int buffer_allocate(void* device, void*, int64_t size, int64_t alignment, void** out,
                    arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = device_of(device).memory.allocate(size, alignment); });
}

void buffer_free(void* device, void* queue, void* buffer) noexcept {
  Memory& memory = device_of(device).memory;
  if (queue == nullptr) {
    memory.free(buffer);
  } else {
    memory.free_after(queue_of(queue).stream(), buffer);
  }
}

int host_register(void* device, void* memory, int64_t size, arrowdevice_error* error) noexcept {
  return guarded(error,
                 [&] { device_of(device).gpu.use([&](Driver& driver) { driver.register_host(memory, size); }); });
}

void host_unregister(void* device, void* memory) noexcept {
  device_of(device).gpu.give_back([&](Driver& driver) { driver.unregister_host(memory); });
}

// -- queues

int queue_create(void* device, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *queue = std::make_unique<Queue>(device_of(device)).release(); });
}

int queue_wrap(void* device, const arrowdevice_native_queue* native, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *queue = std::make_unique<Queue>(device_of(device), native->queue).release(); });
}

int queue_get_native(void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    out->queue = queue_of(queue).stream();
    out->family = 0;
  });
}

void queue_destroy(void* queue) noexcept { delete &queue_of(queue); }

int queue_copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { queue_of(queue).copy({regions, static_cast<size_t>(n)}); });
}

// -- events

int event_record(void* queue, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *event = queue_of(queue).record().release(); });
}

int event_query(void* event, int* ready, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *ready = event_of(event).is_done() ? 1 : 0; });
}

int event_wait(void* event, int64_t timeout_ns, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { event_of(event).wait(timeout_ns); });
}

int queue_wait_event(void* queue, void* event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { queue_of(queue).wait(event_of(event)); });
}

int event_publish(void* event, void** sync_event, arrowdevice_error*) noexcept {
  *sync_event = event_of(event).published();
  return 0;
}

int event_import(void* device, void* sync_event, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto* published = static_cast<const NativeEvent*>(sync_event);
    *event = std::make_unique<Event>(device_of(device).gpu, published).release();
  });
}

void event_destroy(void* event) noexcept { delete &event_of(event); }

arrowdevice_backend make_table(const Backend& backend) {
  arrowdevice_backend table{};
  table.struct_size = sizeof table;
  table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
  table.name = backend.name;
  table.version = backend.version;
  table.device_types = backend.device_types.data();
  table.n_device_types = static_cast<int32_t>(backend.device_types.size());
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
  table.queue_wrap = queue_wrap;
  table.queue_get_native = queue_get_native;
  if (backend.wraps_contexts) {
    table.device_wrap = device_wrap;
    table.device_unwrap = device_unwrap;
  }
  table.device_get_native = device_get_native;
  table.device_get_peer_flags = device_get_peer_flags;
  table.device_locate = device_locate;
  table.pointer_get_info = pointer_get_info;
  table.host_register = host_register;
  table.host_unregister = host_unregister;
  table.device_get_memory_info = device_get_memory_info;
  return table;
}

}  // namespace

const arrowdevice_backend* enter(const Backend& backend, uint32_t host_abi, arrowdevice_error* error) noexcept {
  return enter_plugin(backend.name, host_abi, error, [&]() -> const arrowdevice_backend& {
    static const arrowdevice_backend table = [&] {
      gpus = &backend.gpus;
      return make_table(backend);
    }();
    return table;
  });
}

}  // namespace arrowdevice::cuda_like
