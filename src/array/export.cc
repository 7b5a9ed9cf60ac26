// SPDX-License-Identifier: Apache-2.0
#include "array/export.h"

#include "array/clone_structs.h"
#include "array/locate.h"
#include "array/owners.h"
#include "device/event.h"

namespace arrowdevice::array {
namespace {

void publish_as_is(const device::Device& device, ArrowArray& moved, ArrowDeviceArray* out) noexcept {
  *out = ArrowDeviceArray{};
  out->array = moved;
  out->device_type = device.type();
  out->device_id = device.published_id();
  moved.release = nullptr;
}

// Publishes an array with its event. The event must outlive every node of the array, so every node gets an owner that
// holds the event.
void publish_with(std::shared_ptr<ImportedOwner> owner, Output& output, const device::Device& device, ArrowArray& moved,
                  void* sync_event, ArrowDeviceArray* out) noexcept {
  publish_as_is(device, moved, &owner->array());
  owner->array().sync_event = sync_event;
  *out = owner->array();
  output.publish(std::move(owner), &out->array);
}

}  // namespace

bool carries_events_of(const device::Device& device, const device::Queue& written_on) {
  return device.publishes_events() && &written_on.device().backend() == &device.backend();
}

void export_array(device::Device& device, ArrowArray& moved, device::Queue* written_on, ArrowDeviceArray* out) {
  check_alive(&moved);
  device.check_usable();
  if (written_on == nullptr) {
    publish_as_is(device, moved, out);
    return;
  }
  if (!carries_events_of(device, *written_on)) {
    written_on->finish(ARROWDEVICE_NO_TIMEOUT);
    publish_as_is(device, moved, out);
    return;
  }
  auto owner = std::make_shared<ImportedOwner>();
  auto output = clone_structs(moved);
  auto event = written_on->record();
  void* const sync_event = event->publish();
  owner->set_event(std::move(event));
  publish_with(std::move(owner), output, device, moved, sync_event, out);
}

void export_with_event(device::Device& device, ArrowArray& moved, void* sync_event,
                       void (*event_release)(void* user, void* sync_event), void* user, ArrowDeviceArray* out) {
  check_alive(&moved);
  device.check_usable();
  device::ForeignEvent::check(device, sync_event);
  auto owner = std::make_shared<ImportedOwner>();
  auto output = clone_structs(moved);
  // If a backend can query the event, an early release waits for it.
  if (device.backend().table().event_import != nullptr) {
    owner->set_event(device::ForeignEvent(device, sync_event).take());
  }
  owner->set_event_release(event_release, user);
  publish_with(std::move(owner), output, device, moved, sync_event, out);
}

}  // namespace arrowdevice::array
