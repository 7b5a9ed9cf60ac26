// SPDX-License-Identifier: Apache-2.0
#include "vulkan/devices.h"

#include <cerrno>

#include "base/error.h"
#include "vulkan/functions.h"

namespace arrowdevice::vulkan {
namespace {

std::string text(int64_t id) { return format("vulkan:%lld", static_cast<long long>(id)); }

}  // namespace

Devices& Devices::instance() {
  static auto* const devices = new Devices;
  return *devices;
}

// Requires mutex_. Does not cache a failure, because the driver may be available later.
Instance& Devices::running() {
  if (instance_ == nullptr) instance_ = std::make_unique<Instance>(options_);
  return *instance_;
}

int64_t Devices::count() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(running().physical_devices().size());
}

Device& Devices::open(int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = opened_.find(id);
  if (found != opened_.end()) return *found->second;
  Instance& instance = running();
  const auto count = static_cast<int64_t>(instance.physical_devices().size());
  if (id < 0 || id >= count) {
    throw Error(ENODEV, format("there is no %s: %lld devices", text(id).c_str(), static_cast<long long>(count)));
  }
  return *(opened_[id] = std::make_unique<Device>(open_device(instance, id, options_)));
}

Device& Devices::wrap(int64_t id, const arrowdevice_native_device& native) {
  const std::lock_guard lock(mutex_);
  for (const auto& [own_id, device] : opened_) {
    if (device->logical().handle() == native.device) return *device;
  }
  const auto found = wrapped_.find(native.device);
  if (found == wrapped_.end()) {
    // An application without its own loader function uses the system's loader.
    const auto loader = native.get_proc_addr == nullptr ? open_loader(options_.library).vkGetInstanceProcAddr : nullptr;
    auto made = std::make_unique<Device>(wrap_device(id, native, options_, loader));
    auto& place = wrapped_[native.device];
    place.device = std::move(made);
    place.times = 1;
    return *place.device;
  }
  Wrapped& known = found->second;
  if (known.device->id() != id) {
    throw Error(EINVAL,
                format("the VkDevice %p is wrapped as %s already", native.device, text(known.device->id()).c_str()));
  }
  arrowdevice_native_device before{};
  known.device->native(before);
  if (before.queue != native.queue) {
    throw Error(EINVAL,
                format("the VkDevice %p is wrapped with VkQueue %p: others are used by arrowdevice_queue_wrap()",
                       native.device, before.queue));
  }
  ++known.times;
  return *known.device;
}

void Devices::unwrap(Device& device) {
  const std::lock_guard lock(mutex_);
  const auto found = wrapped_.find(device.logical().handle());
  if (found == wrapped_.end()) return;  // The library's own devices stay open.
  if (found->second.times == 1) {
    device.drain();
    wrapped_.erase(found);
  } else {
    --found->second.times;
  }
}

Device* Devices::owner(VkBuffer buffer, VkEvent event) {
  const auto owns = [&](Device& device) {
    return buffer != VK_NULL_HANDLE ? device.buffers().find(buffer).has_value()
                                    : device.published().find(event).has_value();
  };
  for (const auto& [id, device] : opened_) {
    if (owns(*device)) return device.get();
  }
  for (const auto& [handle, wrapped] : wrapped_) {
    if (owns(*wrapped.device)) return wrapped.device.get();
  }
  return nullptr;
}

Device& Devices::locate(int64_t id, const void* buffer, void* sync_event) {
  const std::lock_guard lock(mutex_);
  const auto handle = static_cast<VkBuffer>(const_cast<void*>(buffer));
  const VkEvent event = sync_event != nullptr ? *static_cast<const VkEvent*>(sync_event) : VK_NULL_HANDLE;
  const std::string what =
      buffer != nullptr ? format("VkBuffer %p", buffer) : format("VkEvent %p", static_cast<void*>(event));
  if (Device* const device = owner(handle, event)) {
    if (device->id() != id) {
      throw Error(ENODEV, what + " is of " + text(device->id()) + ", but its array says " + text(id));
    }
    return *device;
  }
  Device* only = nullptr;
  for (const auto& [key, wrapped] : wrapped_) {
    if (wrapped.device->id() != id) continue;
    if (only != nullptr) {
      throw Error(ENODEV, what + " was not made by the library, and several wrapped devices have its array's id " +
                              std::to_string(id) + ": name one as source_device of the options");
    }
    only = wrapped.device.get();
  }
  if (only == nullptr) {
    throw Error(ENODEV, what + " was not made by the library, and no device is wrapped as " + text(id) +
                            ": wrap the producer's VkDevice with arrowdevice_device_wrap(ARROW_DEVICE_VULKAN, " +
                            std::to_string(id) + ", ...), or name it as source_device of the options");
  }
  return *only;
}

}  // namespace arrowdevice::vulkan
