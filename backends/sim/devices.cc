// SPDX-License-Identifier: Apache-2.0
#include "sim/devices.h"

#include <cerrno>

#include "base/error.h"

namespace arrowdevice::sim {

void Devices::configure(const Configuration& configuration) {
  const std::lock_guard lock(mutex_);
  settings_ = configuration.devices;
  peers_ = configuration.peers;
  for (const auto& [handle, device] : live_.all()) {
    device->engine().recover();
    device->statistics().reset();
    const auto place = static_cast<size_t>(device->id());
    if (place < settings_.size() && settings_[place].addresses == device->memory().addresses()) {
      device->apply(settings_[place]);
    } else if (const auto own = opened_.find(device->id()); own != opened_.end() && own->second.first == handle) {
      opened_.erase(own);
    }
  }
}

int64_t Devices::count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(settings_.size());
}

Devices::Entry Devices::open(int64_t id) {
  const std::lock_guard lock(mutex_);
  if (id < 0 || id >= static_cast<int64_t>(settings_.size())) {
    throw Error(ENODEV, format("there is no simulated device %lld, but %zu of them", static_cast<long long>(id),
                               settings_.size()));
  }
  Entry& entry = opened_[id];
  if (entry.first == nullptr) {
    auto device = std::make_shared<Device>(id, settings_[static_cast<size_t>(id)], nullptr);
    entry = {live_.add(device), device};
  }
  return entry;
}

void* Devices::wrap(int64_t id, void* context) {
  if (context == nullptr) throw Error(EINVAL, "the native device to wrap has no context");
  open(id);
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, device] : live_.all()) {
    if (device->id() == id && (handle == context || device->context() == context)) {
      ++wraps_[handle];
      return handle;
    }
  }
  void* handle = live_.add(std::make_shared<Device>(id, settings_[static_cast<size_t>(id)], context));
  ++wraps_[handle];
  return handle;
}

void Devices::unwrap(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto device = live_.get(handle);
  const auto wrapped = wraps_.find(handle);
  if (wrapped == wraps_.end()) throw Error(EINVAL, device->name() + " is not wrapped");
  if (wrapped->second == 1 && device->context() != nullptr) {
    device->close();
    live_.take(handle);
  }
  if (--wrapped->second == 0) wraps_.erase(wrapped);
}

Devices::Entry Devices::owner(const void* buffer) const {
  for (auto& entry : live_.all()) {
    if (entry.second->memory().find(buffer)) return entry;
  }
  return {};
}

void* Devices::handle_of(const Device& device) const {
  for (const auto& [handle, other] : live_.all()) {
    if (other.get() == &device) return handle;
  }
  throw Error(EINVAL, device.name() + " was unwrapped");
}

Range Devices::range(Device& device, const void* buffer, int64_t offset, int64_t size) const {
  if (peers() == Peers::kAccess && device.memory().addresses() && !device.memory().find(buffer)) {
    const auto& [handle, other] = owner(buffer);
    if (other && other->memory().addresses()) return other->memory().range(buffer, offset, size);
  }
  return device.memory().range(buffer, offset, size);
}

void Devices::check_host(const void* pointer) const {
  if (pointer == nullptr) throw Error(EINVAL, "a NULL pointer as host memory");
  if (is_handle(pointer)) throw Error(EINVAL, format("%p, given as host memory, is a handle", pointer));
  if (const auto& [handle, device] = owner(pointer); device) {
    throw Error(EINVAL, format("%p, given as host memory, is memory of %s", pointer, device->name().c_str()));
  }
}

Peers Devices::peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

}  // namespace arrowdevice::sim
