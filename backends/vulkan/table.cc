// SPDX-License-Identifier: Apache-2.0
// The backend table, and the plugin's entry point, which is its only exported symbol.
#include <arrowdevice/backend.h>

#include <cerrno>
#include <memory>

#include "base/error.h"
#include "base/plugin_entry.h"
#include "vulkan/copy.h"
#include "vulkan/devices.h"
#include "vulkan/event.h"

namespace arrowdevice::vulkan {
namespace {

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_VULKAN};

// A queue of the table. It owns a submission queue until queue_destroy.
class Queue {
 public:
  Queue(Device& device, std::shared_ptr<SubmissionQueue> submissions) noexcept
      : device_(device), submissions_(std::move(submissions)) {}
  ~Queue() { device_.end_queue(std::move(submissions_)); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Device& device() const noexcept { return device_; }
  const std::shared_ptr<SubmissionQueue>& submissions() const noexcept { return submissions_; }

 private:
  Device& device_;
  std::shared_ptr<SubmissionQueue> submissions_;
};

Device& device_of(void* handle) { return *static_cast<Device*>(handle); }
Queue& queue_of(void* handle) { return *static_cast<Queue*>(handle); }
Event& event_of(void* handle) { return *static_cast<Event*>(handle); }
void* handle_of(std::unique_ptr<Event> event) { return event.release(); }
VkBuffer buffer_of(const void* handle) { return static_cast<VkBuffer>(const_cast<void*>(handle)); }

// -- devices

int device_count(ArrowDeviceType, int64_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *out = Devices::instance().count(); });
}

int device_open(ArrowDeviceType, int64_t id, void** device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *device = &Devices::instance().open(id); });
}

int device_get_info(void* device, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { device_of(device).describe(*out); });
}

int device_wrap(ArrowDeviceType, int64_t id, const arrowdevice_native_device* native, void** device,
                arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *device = &Devices::instance().wrap(id, *native); });
}

int device_unwrap(void* device, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { Devices::instance().unwrap(device_of(device)); });
}

int device_get_native(void* device, arrowdevice_native_device* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { device_of(device).native(*out); });
}

// Two VkDevices share no memory here, even if they use one physical device.
int device_get_peer_flags(void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    if (from == to) {
      *out = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
    } else {
      *out = from == nullptr || to == nullptr ? ARROWDEVICE_PEER_COPY : 0;
    }
  });
}

int device_locate(ArrowDeviceType, int64_t id, const void* buffer, void* sync_event, void** device,
                  arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *device = &Devices::instance().locate(id, buffer, sync_event); });
}

int device_get_memory_info(void* device, int64_t* free_bytes, int64_t* total_bytes, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { device_of(device).memory(free_bytes, total_bytes); });
}

// -- memory

int buffer_allocate(void* device, void*, int64_t size, int64_t, void** out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    device_of(device).logical().check_not_lost();
    *out = device_of(device).buffers().allocate(static_cast<VkDeviceSize>(size));
  });
}

void buffer_free(void* device, void* queue, void* buffer) noexcept {
  arrowdevice_error unseen;
  guarded(&unseen, [&] {
    device_of(device).deallocate(buffer_of(buffer), queue != nullptr ? queue_of(queue).submissions().get() : nullptr);
  });
}

int sub_buffer_create(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                      arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    if (offset < 0 || size <= 0) throw Error(EINVAL, "a sub-buffer with a negative offset or without bytes");
    device_of(device).logical().check_not_lost();
    *out = device_of(device).buffers().write_buffer(buffer_of(buffer), static_cast<VkDeviceSize>(offset),
                                                    static_cast<VkDeviceSize>(size));
  });
}

void sub_buffer_destroy(void* device, void* sub) noexcept {
  device_of(device).settle_if_lost();
  device_of(device).buffers().free_part(buffer_of(sub));
}

int pointer_get_info(void* device, const void* buffer, arrowdevice_pointer_info* out,
                     arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto place = device_of(device).buffers().find(buffer_of(buffer));
    out->flags = place ? ARROWDEVICE_POINTER_KNOWN : 0;
    out->device_type = place ? ARROW_DEVICE_VULKAN : 0;
    out->reserved = 0;
    out->device_id = place ? device_of(device).id() : -1;
    out->base = place ? place->whole : nullptr;
    out->size = place ? static_cast<int64_t>(place->size) : -1;
  });
}

// -- queues

int queue_create(void* device, void** queue, arrowdevice_error* error) noexcept {
  return guarded(
      error, [&] { *queue = std::make_unique<Queue>(device_of(device), device_of(device).make_queue()).release(); });
}

int queue_wrap(void* device, const arrowdevice_native_queue* native, void** queue, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    *queue = std::make_unique<Queue>(device_of(device),
                                     device_of(device).wrap(static_cast<VkQueue>(native->queue), native->family))
                 .release();
  });
}

int queue_get_native(void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const NativeQueue& native = queue_of(queue).submissions()->native();
    out->queue = native.handle();
    out->family = native.family();
  });
}

void queue_destroy(void* queue) noexcept { delete static_cast<Queue*>(queue); }

int queue_copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    vulkan::copy(queue_of(queue).device(), *queue_of(queue).submissions(), {regions, static_cast<size_t>(n)});
  });
}

// -- events

int event_record(void* queue, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    const auto& submissions = queue_of(queue).submissions();
    *event = handle_of(std::make_unique<RecordedEvent>(queue_of(queue).device(), submissions, submissions->record()));
  });
}

int event_query(void* event, int* ready, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *ready = event_of(event).is_ready() ? 1 : 0; });
}

int event_wait(void* event, int64_t timeout_ns, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    if (!event_of(event).wait(Deadline(timeout_ns))) throw Error(ETIMEDOUT, "the event has not fired in time");
  });
}

int queue_wait_event(void* queue, void* event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { event_of(event).hold_up(queue_of(queue).device(), queue_of(queue).submissions()); });
}

int event_publish(void* event, void** sync_event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] { *sync_event = event_of(event).publish(); });
}

int event_import(void* device, void* sync_event, void** event, arrowdevice_error* error) noexcept {
  return guarded(error, [&] {
    Device& importing = device_of(device);
    const VkEvent native = *static_cast<const VkEvent*>(sync_event);
    if (native == VK_NULL_HANDLE) throw Error(EINVAL, "sync_event points to a VkEvent that is VK_NULL_HANDLE");
    if (auto own = importing.published().find(native)) {
      *event = handle_of(std::make_unique<RecordedEvent>(importing, std::move(own->queue), own->number));
    } else {
      *event = handle_of(std::make_unique<ForeignEvent>(importing.logical(), native));
    }
  });
}

void event_destroy(void* event) noexcept { delete static_cast<Event*>(event); }

arrowdevice_backend make_table() {
  arrowdevice_backend table{};
  table.struct_size = sizeof table;
  table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
  table.name = "vulkan";
  table.version = ARROWDEVICE_VULKAN_VERSION;
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
  table.device_get_memory_info = device_get_memory_info;
  return table;
}

const arrowdevice_backend& table() {
  static const arrowdevice_backend made = make_table();
  return made;
}

}  // namespace
}  // namespace arrowdevice::vulkan

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("Vulkan", host_abi, error, []() -> const arrowdevice_backend& {
    arrowdevice::vulkan::Devices::instance();  // reports an invalid environment at once
    return arrowdevice::vulkan::table();
  });
}
