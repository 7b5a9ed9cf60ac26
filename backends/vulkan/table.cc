// SPDX-License-Identifier: Apache-2.0
// The backend table, and the plugin's entry point, which is its only exported symbol.
#include <arrowdevice/backend.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "base/backend_table.h"
#include "base/error.h"
#include "base/plugin_entry.h"
#include "vulkan/copy.h"
#include "vulkan/devices.h"
#include "vulkan/event.h"

namespace arrowdevice::vulkan {
namespace {

// A queue of the table. It owns a submission queue until queue_destroy.
class TableQueue {
 public:
  TableQueue(Device& device, std::shared_ptr<SubmissionQueue> submissions) noexcept
      : device_(device), submissions_(std::move(submissions)) {}
  ~TableQueue() { device_.end_queue(std::move(submissions_)); }
  TableQueue(const TableQueue&) = delete;
  TableQueue& operator=(const TableQueue&) = delete;

  Device& device() const noexcept { return device_; }
  const std::shared_ptr<SubmissionQueue>& submissions() const noexcept { return submissions_; }

 private:
  Device& device_;
  std::shared_ptr<SubmissionQueue> submissions_;
};

VkBuffer buffer_of(const void* handle) { return static_cast<VkBuffer>(const_cast<void*>(handle)); }

struct Functions : ListedDevices<Devices, Device> {
  using Queue = TableQueue;
  using Event = vulkan::Event;
  static constexpr ArrowDeviceType kDeviceType = ARROW_DEVICE_VULKAN;
  static constexpr const char* kDisplayName = "Vulkan";

  static void device_get_info(Device& device, arrowdevice_device_info& out) { device.describe(out); }

  static void device_get_memory_info(Device& device, int64_t& free_bytes, int64_t& total_bytes) {
    device.memory(&free_bytes, &total_bytes);
  }

  static void device_get_native(Device& device, arrowdevice_native_device& out) { device.native(out); }

  // Two VkDevices share no memory here, even if they use one physical device.
  static uint32_t device_get_peer_flags(const Device* from, const Device* to) {
    if (from == to) return ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
    return from == nullptr || to == nullptr ? ARROWDEVICE_PEER_COPY : 0;
  }

  static Device& device_locate(ArrowDeviceType, int64_t id, const void* buffer, void* sync_event) {
    return Devices::instance().locate(id, buffer, sync_event);
  }

  static void* buffer_allocate(Device& device, Queue*, int64_t size, int64_t) {
    device.logical().check_not_lost();
    return device.buffers().allocate(static_cast<VkDeviceSize>(size));
  }

  static void buffer_free(Device& device, Queue* queue, void* buffer) noexcept {
    arrowdevice_error unseen;
    guarded(&unseen,
            [&] { device.deallocate(buffer_of(buffer), queue != nullptr ? queue->submissions().get() : nullptr); });
  }

  static void* shareable_allocate(Device& device, Queue*, int64_t size, int64_t) {
    device.logical().check_not_lost();
    return allocate_shareable(device, static_cast<VkDeviceSize>(size));
  }

  static void shareable_free(Device& device, Queue* queue, void* buffer) noexcept {
    buffer_free(device, queue, buffer);
  }

  static void memory_export(Device& device, const void* buffer, arrowdevice_memory_record& out) {
    describe_shareable(device, buffer_of(buffer), out);
  }

  static void* memory_import(Device& device, const arrowdevice_memory_record& record, int64_t& size) {
    device.logical().check_not_lost();
    return open_shared(device, record, size);
  }

  static void memory_close(Device& device, void* buffer) noexcept { buffer_free(device, nullptr, buffer); }

  static void device_trim(Device& device) noexcept { device.trim(); }

  static void* sub_buffer_create(Device& device, const void* buffer, int64_t offset, int64_t size) {
    if (offset < 0 || size <= 0) throw Error(EINVAL, "a sub-buffer with a negative offset or without bytes");
    device.logical().check_not_lost();
    return device.buffers().write_buffer(buffer_of(buffer), static_cast<VkDeviceSize>(offset),
                                         static_cast<VkDeviceSize>(size));
  }

  static void sub_buffer_destroy(Device& device, void* sub) noexcept {
    device.settle_if_lost();
    device.buffers().free_part(buffer_of(sub));
  }

  static void pointer_get_info(Device& device, const void* buffer, arrowdevice_pointer_info& out) {
    const auto place = device.buffers().find(buffer_of(buffer));
    out.flags = place ? ARROWDEVICE_POINTER_KNOWN : 0;
    out.device_type = place ? ARROW_DEVICE_VULKAN : 0;
    out.reserved = 0;
    out.device_id = place ? device.id() : -1;
    out.base = place ? place->whole : nullptr;
    out.size = place ? static_cast<int64_t>(place->size) : -1;
  }

  static std::unique_ptr<Queue> queue_create(Device& device) {
    return std::make_unique<Queue>(device, device.make_queue());
  }

  static std::unique_ptr<Queue> queue_wrap(Device& device, const arrowdevice_native_queue& native) {
    return std::make_unique<Queue>(device, device.wrap(static_cast<VkQueue>(native.queue), native.family));
  }

  static void queue_get_native(Queue& queue, arrowdevice_native_queue& out) {
    queue.submissions()->lend();
    const NativeQueue& native = queue.submissions()->native();
    out.queue = native.handle();
    out.family = native.family();
  }

  static void queue_copy(Queue& queue, std::span<const arrowdevice_backend_region> regions) {
    vulkan::copy(queue.device(), *queue.submissions(), regions);
  }

  static void queue_wait_event(Queue& queue, Event& event) { event.hold_up(queue.device(), queue.submissions()); }

  static std::unique_ptr<Event> event_record(Queue& queue) {
    return std::make_unique<RecordedEvent>(queue.device(), queue.submissions(), queue.submissions()->record());
  }

  static bool event_query(Event& event) { return event.is_ready(); }

  static void event_wait(Event& event, int64_t timeout_ns) {
    if (!event.wait(Deadline(timeout_ns))) throw Error(ETIMEDOUT, "the event has not fired in time");
  }

  static bool has_failed(Event&, const Error& error) { return error.native_code() == VK_ERROR_DEVICE_LOST; }

  static void* event_publish(Event& event) { return event.publish(); }

  static std::unique_ptr<Event> event_import(Device& device, void* sync_event) {
    const VkEvent native = *static_cast<const VkEvent*>(sync_event);
    if (native == VK_NULL_HANDLE) throw Error(EINVAL, "sync_event points to a VkEvent that is VK_NULL_HANDLE");
    if (auto own = device.published().find(native)) {
      return std::make_unique<RecordedEvent>(device, std::move(own->queue), own->number);
    }
    return std::make_unique<ForeignEvent>(device.logical(), native);
  }
};

constexpr ArrowDeviceType kDeviceTypes[] = {Functions::kDeviceType};

const arrowdevice_backend& table() {
  static const arrowdevice_backend made =
      BackendTable<Functions>::make("vulkan", ARROWDEVICE_VULKAN_VERSION, kDeviceTypes);
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
