// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/table.h"

#include <cerrno>
#include <cstring>

#include "base/backend_table.h"
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

// Pinned memory belongs to the primary context. The backend does not create that context for a wrapped device, because
// the driver copies pageable memory itself.
bool has_staging(Gpu& gpu) { return !gpu.is_wrapped() || gpu.driver().has_primary_context(gpu.ordinal()); }

struct Functions {
  using Device = cuda_like::Device;
  using Queue = cuda_like::Queue;
  using Event = cuda_like::Event;

  static int64_t device_count(ArrowDeviceType type) { return gpus->count(type); }

  static Device& device_open(ArrowDeviceType type, int64_t id) { return gpus->open(type, id); }

  // Writes each member separately, because the library may be older or newer than this plugin and the struct may have
  // grown.
  static void device_get_info(const Device& device, arrowdevice_device_info& out) {
    const Properties& properties = device.gpu.properties();
    copy_text(out.name, properties.name.c_str());
    copy_text(out.vendor, device.gpu.driver().vendor());
    std::memcpy(out.uuid, properties.uuid.data(), sizeof out.uuid);
    // Pinned memory belongs to the host, and the driver does not report its size.
    out.total_memory = device.kind == MemoryKind::kPinned ? -1 : properties.total_memory;
    out.buffer_alignment = kAlignment;
    out.sub_buffer_alignment = 1;
    out.flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_EVENTS | ARROWDEVICE_DEVICE_COPY_BLOCKS |
                (device.is_host_readable() ? ARROWDEVICE_DEVICE_HOST_READABLE : 0) |
                (device.memory.is_stream_ordered() ? ARROWDEVICE_DEVICE_STREAM_ORDERED : 0) |
                (device.memory.is_shareable() ? ARROWDEVICE_DEVICE_SHAREABLE : 0);
    out.staging_type = has_staging(device.gpu) ? gpus->type_of(MemoryKind::kPinned) : 0;
    out.numa_node = properties.numa_node;
  }

  static void device_get_memory_info(Device& device, int64_t& free_bytes, int64_t& total_bytes) {
    if (device.kind == MemoryKind::kPinned) {
      free_bytes = total_bytes = -1;
      return;
    }
    device.gpu.use([&](Driver& driver) { driver.device_get_memory_info(&free_bytes, &total_bytes); });
  }

  static Device& device_wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
    return gpus->wrap(type, id, native.context);
  }

  static void device_unwrap(Device& device) { gpus->unwrap(device); }

  static void device_get_native(const Device& device, arrowdevice_native_device& out) {
    Gpu& gpu = device.gpu;
    out.api_version = static_cast<uint32_t>(gpu.driver().api_version());
    out.device = reinterpret_cast<void*>(static_cast<intptr_t>(gpu.ordinal()));
    out.context = gpu.context();
  }

  static uint32_t device_get_peer_flags(Device* from, Device* to) { return peer_flags(from, to); }

  static Device& device_locate(ArrowDeviceType type, int64_t id, const void* buffer, void*) {
    return gpus->locate(type, id, buffer);
  }

  static void pointer_get_info(Device& device, const void* buffer, arrowdevice_pointer_info& out) {
    const auto facts = device.gpu.use([&](Driver& driver) { return driver.find_pointer(buffer); });
    // A GPU that uses the page tables of the host uses all memory of the program in place.
    const bool is_of_program = !facts && device.gpu.properties().reads_host_pages;
    const bool is_host = is_of_program || (facts && facts->kind != MemoryKind::kDevice);
    out.flags =
        (facts || is_of_program ? ARROWDEVICE_POINTER_KNOWN : 0) | (is_host ? ARROWDEVICE_POINTER_HOST_READABLE : 0);
    out.device_type = facts ? gpus->type_of(facts->kind) : is_of_program ? ARROW_DEVICE_CPU : 0;
    out.reserved = 0;
    out.device_id = facts ? facts->ordinal : -1;
    out.base = facts ? facts->base : nullptr;
    out.size = facts ? facts->size : -1;
  }

  static void* buffer_allocate(Device& device, Queue* queue, int64_t size, int64_t alignment) {
    return device.memory.allocate(queue, size, alignment);
  }

  static void buffer_free(Device& device, Queue* queue, void* buffer) noexcept {
    if (queue == nullptr) {
      device.memory.free(buffer);
    } else {
      device.memory.free_after(*queue, buffer);
    }
  }

  static void* shareable_allocate(Device& device, Queue*, int64_t size, int64_t alignment) {
    return device.memory.allocate_shareable(size, alignment);
  }

  static void shareable_free(Device& device, Queue* queue, void* buffer) noexcept {
    buffer_free(device, queue, buffer);
  }

  static void memory_export(Device& device, const void* buffer, arrowdevice_memory_record& out) {
    device.memory.describe(buffer, out);
  }

  static void* memory_import(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
    return device.memory.open(record, size);
  }

  static void memory_close(Device& device, void* buffer) noexcept { device.memory.free(buffer); }

  static std::unique_ptr<Queue> queue_create(Device& device) { return std::make_unique<Queue>(device); }

  static std::unique_ptr<Queue> queue_wrap(Device& device, const arrowdevice_native_queue& native) {
    return std::make_unique<Queue>(device, native.queue);
  }

  static void queue_get_native(Queue& queue, arrowdevice_native_queue& out) {
    out.queue = queue.give_stream();
    out.family = 0;
  }

  static void queue_copy(Queue& queue, std::span<const arrowdevice_backend_region> regions) { queue.copy(regions); }

  static void queue_wait_event(Queue& queue, Event& event) { queue.wait(event); }

  static std::unique_ptr<Event> event_record(Queue& queue) { return queue.record(); }

  static std::unique_ptr<Event> device_record_event(Device& device) {
    auto event = std::make_unique<Event>(device.gpu);
    device.gpu.use([&](Driver& driver) { driver.record_context(event->native(), device.gpu.context()); });
    return event;
  }

  static void device_trim(Device& device) { device.gpu.trim(); }

  static bool event_query(Event& event) { return event.is_done(); }

  static void event_wait(Event& event, int64_t timeout_ns) { event.wait(timeout_ns); }

  static bool has_failed(Event& event, const Error&) { return event.gpu().is_lost(); }

  static void* event_publish(Event& event) { return event.published(); }

  static std::unique_ptr<Event> event_import(Device& device, void* sync_event) {
    return std::make_unique<Event>(device.gpu, static_cast<const NativeEvent*>(sync_event));
  }
};

arrowdevice_backend make_table(const Backend& backend) {
  auto table = BackendTable<Functions>::make(backend.name, backend.version, backend.device_types);
  if (!backend.wraps_contexts) {
    table.device_wrap = nullptr;
    table.device_unwrap = nullptr;
  }
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
