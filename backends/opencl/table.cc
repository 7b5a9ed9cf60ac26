// SPDX-License-Identifier: Apache-2.0
#include "opencl/table.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/backend_table.h"
#include "base/text.h"
#include "opencl/buffer.h"
#include "opencl/devices.h"
#include "opencl/event.h"
#include "opencl/query.h"
#include "opencl/queue.h"
#include "opencl/scatter.h"
#include "opencl/shared_buffer.h"

namespace arrowdevice::opencl {
namespace {

cl_mem buffer_of(const void* handle) { return static_cast<cl_mem>(const_cast<void*>(handle)); }

struct Functions : ListedDevices<Devices, Device> {
  using Queue = opencl::Queue;
  using Event = opencl::Event;
  static constexpr ArrowDeviceType kDeviceType = ARROW_DEVICE_OPENCL;
  static constexpr const char* kDisplayName = "OpenCL";

  // Writes each member separately, because the library may be older or newer than this plugin and the struct may have
  // grown.
  static void device_get_info(const Device& device, arrowdevice_device_info& out) {
    const auto& properties = device.properties();
    copy_text(out.name, properties.name);
    copy_text(out.vendor, properties.vendor);
    std::memcpy(out.uuid, properties.uuid.data(), sizeof out.uuid);
    out.total_memory = properties.total_memory;
    out.buffer_alignment = properties.alignment;
    out.sub_buffer_alignment = properties.alignment;
    out.flags = ARROWDEVICE_DEVICE_EVENTS | (properties.is_cpu ? ARROWDEVICE_DEVICE_SHAREABLE : 0u);
    out.staging_type = 0;
  }

  static void device_get_native(const Device& device, arrowdevice_native_device& out) {
    out.platform = ask_device<cl_platform_id>(device.native(), CL_DEVICE_PLATFORM);
    out.device = device.native();
    out.context = device.context();
  }

  static uint32_t device_get_peer_flags(const Device* from, const Device* to) {
    if (from == to) return ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
    // Contexts cannot access each other's memory, even on the same driver and device.
    const bool is_direct = from == nullptr || to == nullptr || from->context() == to->context();
    return is_direct ? ARROWDEVICE_PEER_COPY : 0;
  }

  static Device& device_locate(ArrowDeviceType, int64_t id, const void* buffer, void* sync_event) {
    auto* const event = sync_event != nullptr ? *static_cast<cl_event*>(sync_event) : nullptr;
    if (buffer == nullptr && event == nullptr) throw Error(EINVAL, "neither a cl_mem nor a cl_event to locate");
    return Devices::instance().locate(id, buffer_of(buffer), event);
  }

  static void* buffer_allocate(Device& device, Queue*, int64_t size, int64_t alignment) {
    return OwnBuffers::instance().allocate(device, size, alignment);
  }

  // Enqueued commands hold their own reference to a cl_mem.
  static void buffer_free(Device&, Queue*, void* buffer) noexcept { OwnBuffers::instance().release(buffer_of(buffer)); }

  static void* shareable_allocate(Device& device, Queue*, int64_t size, int64_t) {
    return allocate_shareable(device, size);
  }

  static void shareable_free(Device&, Queue*, void* buffer) noexcept {
    OwnBuffers::instance().release(buffer_of(buffer));
  }

  static void memory_export(Device&, const void* buffer, arrowdevice_memory_record& out) {
    describe_shareable(buffer_of(buffer), out);
  }

  static void* memory_import(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
    return open_shared(device, record, size);
  }

  static void memory_close(Device&, void* buffer) noexcept { OwnBuffers::instance().release(buffer_of(buffer)); }

  static void device_trim(Device&) noexcept { ScatteredReads::trim(); }

  static void* sub_buffer_create(Device&, const void* buffer, int64_t offset, int64_t size) {
    return OwnBuffers::instance().make_sub_buffer(buffer_of(buffer), offset, size);
  }

  static void sub_buffer_destroy(Device&, void* sub) noexcept { OwnBuffers::instance().release(buffer_of(sub)); }

  // The driver knows only the context of a cl_mem, not its device. A sub-buffer is reported as a buffer with its own
  // size.
  static void pointer_get_info(Device&, const void* buffer, arrowdevice_pointer_info& out) {
    const auto size = known_size(buffer_of(buffer));
    out.flags = size ? ARROWDEVICE_POINTER_KNOWN : 0;
    out.device_type = size ? ARROW_DEVICE_OPENCL : 0;
    out.reserved = 0;
    out.device_id = -1;
    out.base = size ? const_cast<void*>(buffer) : nullptr;
    out.size = size.value_or(-1);
  }

  static std::unique_ptr<Queue> queue_create(Device& device) { return std::make_unique<Queue>(device); }

  static std::unique_ptr<Queue> queue_wrap(Device& device, const arrowdevice_native_queue& native) {
    return Queue::wrap(device, static_cast<cl_command_queue>(native.queue));
  }

  static void queue_get_native(Queue& queue, arrowdevice_native_queue& out) {
    out.queue = queue.native();
    out.family = 0;
  }

  static void queue_copy(Queue& queue, std::span<const arrowdevice_backend_region> regions) { queue.copy(regions); }

  static void queue_wait_event(Queue& queue, Event& event) { queue.wait_for(event); }

  static std::unique_ptr<Event> event_record(Queue& queue) { return queue.record(); }

  static bool event_query(Event& event) { return event.is_ready(); }

  static void event_wait(Event& event, int64_t timeout_ns) { event.wait(timeout_ns); }

  static bool has_failed(Event& event, const Error&) { return event.has_failed(); }

  static void* event_publish(Event& event) { return event.publish(); }

  static std::unique_ptr<Event> event_import(Device&, void* sync_event) {
    auto* const foreign = *static_cast<cl_event*>(sync_event);
    if (foreign == nullptr) throw Error(EINVAL, "sync_event points to a cl_event that is NULL");
    return std::make_unique<Event>(Event::import(foreign));
  }
};

constexpr ArrowDeviceType kDeviceTypes[] = {Functions::kDeviceType};

}  // namespace

const arrowdevice_backend& table() {
  static const arrowdevice_backend made =
      BackendTable<Functions>::make("opencl", ARROWDEVICE_OPENCL_VERSION, kDeviceTypes);
  return made;
}

}  // namespace arrowdevice::opencl
