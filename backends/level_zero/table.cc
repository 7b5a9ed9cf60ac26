// SPDX-License-Identifier: Apache-2.0
// The backend table, and the plugin's entry point, which is its only exported symbol.
#include <arrowdevice/backend.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/backend_table.h"
#include "base/error.h"
#include "base/plugin_entry.h"
#include "base/text.h"
#include "level_zero/device.h"
#include "level_zero/devices.h"
#include "level_zero/queue.h"
#include "level_zero/shareable.h"
#include "level_zero/sycl_event.h"

namespace arrowdevice::level_zero {
namespace {

// Alignment that kernels need. Drivers allocate whole pages.
constexpr int64_t kAlignment = 64;

struct Functions : ListedDevices<Devices, Device> {
  using Queue = level_zero::Queue;
  using Event = level_zero::Event;
  static constexpr ArrowDeviceType kDeviceType = ARROW_DEVICE_ONEAPI;
  static constexpr const char* kDisplayName = "Level Zero";

  // Writes each member separately, because the library may be older or newer than this plugin and the struct may have
  // grown. The CPU waits for a sycl::event.
  static void device_get_info(const Device& device, arrowdevice_device_info& out) {
    const auto& properties = device.properties();
    copy_text(out.name, properties.name);
    copy_text(out.vendor, properties.vendor);
    std::memcpy(out.uuid, properties.uuid.data(), sizeof out.uuid);
    out.total_memory = properties.total_memory;
    out.buffer_alignment = kAlignment;
    out.sub_buffer_alignment = kAlignment;
    out.flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_WAIT_BLOCKS | ARROWDEVICE_DEVICE_COPY_BLOCKS |
                (device.is_shareable() ? ARROWDEVICE_DEVICE_SHAREABLE : 0);
    out.staging_type = 0;
  }

  static void device_get_native(Device& device, arrowdevice_native_device& out) {
    out.platform = Devices::instance().driver_of(device);
    out.device = device.physical().native();
    out.context = device.context().native();
  }

  static uint32_t device_get_peer_flags(const Device* from, const Device* to) { return peer_flags(from, to); }

  static Device& device_locate(ArrowDeviceType, int64_t id, const void* buffer, void*) {
    return Devices::instance().locate(id, buffer);
  }

  static void pointer_get_info(Device& device, const void* buffer, arrowdevice_pointer_info& out) {
    const auto found = device.physical().use([&] { return find_allocation(device.context().native(), buffer); });
    const bool is_readable = found && found->type != ZE_MEMORY_TYPE_DEVICE;
    auto* const owner = found && found->device != nullptr ? found->device : device.physical().native();
    out.flags = (found ? ARROWDEVICE_POINTER_KNOWN : 0) | (is_readable ? ARROWDEVICE_POINTER_HOST_READABLE : 0);
    out.device_type = found ? ARROW_DEVICE_ONEAPI : 0;
    out.reserved = 0;
    out.device_id = found ? Devices::instance().id_of(owner) : -1;
    out.base = found ? found->base : nullptr;
    out.size = found ? static_cast<int64_t>(found->size) : -1;
  }

  static void* buffer_allocate(Device& device, Queue*, int64_t size, int64_t alignment) {
    return device.allocate(size, alignment);
  }

  static void buffer_free(Device& device, Queue* queue, void* buffer) noexcept {
    if (queue != nullptr) {
      queue->free_behind(buffer);
    } else {
      device.free(buffer);
      device.context().unfinished().sweep();
    }
  }

  static void* shareable_allocate(Device& device, Queue*, int64_t size, int64_t alignment) {
    return allocate_shareable(device, size, alignment);
  }

  static void shareable_free(Device& device, Queue* queue, void* buffer) noexcept {
    buffer_free(device, queue, buffer);
  }

  static void memory_export(Device& device, const void* buffer, arrowdevice_memory_record& out) {
    describe_shareable(device, buffer, out);
  }

  static void* memory_import(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
    return open_shared(device, record, size);
  }

  static void memory_close(Device& device, void* buffer) noexcept { buffer_free(device, nullptr, buffer); }

  static void* staging_allocate(Device& device, int64_t size) { return device.allocate_host(size, kAlignment); }

  static void staging_free(Device& device, void* memory) noexcept {
    device.free(memory);
    device.context().unfinished().sweep();
  }

  static std::unique_ptr<Queue> queue_create(Device& device) { return std::make_unique<Queue>(device); }

  static std::unique_ptr<Queue> queue_wrap(Device& device, const arrowdevice_native_queue& native) {
    return std::make_unique<Queue>(device, static_cast<ze_command_list_handle_t>(native.queue));
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

  // An error without a code of the driver comes from a SYCL runtime, which reports that the work has failed.
  static bool has_failed(Event&, const Error& error) {
    return error.native_code() == 0 || is_fatal(error.native_code());
  }

  static std::unique_ptr<Event> event_import(Device&, void* sync_event) {
    return std::make_unique<SyclEvent>(sync_event);
  }
};

constexpr ArrowDeviceType kDeviceTypes[] = {Functions::kDeviceType};

const arrowdevice_backend& table() {
  static const arrowdevice_backend made =
      BackendTable<Functions>::make("level_zero", ARROWDEVICE_LEVEL_ZERO_VERSION, kDeviceTypes);
  return made;
}

}  // namespace
}  // namespace arrowdevice::level_zero

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("Level Zero", host_abi, error, arrowdevice::level_zero::table);
}
