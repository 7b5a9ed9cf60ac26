// SPDX-License-Identifier: Apache-2.0
#include "shared_streams/gpus.h"

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace arrowdevice::streams {

// A driver that does not start takes its time each time that it is asked, and says the same.
Driver& Gpus::driver() {
  if (refusal_) throw Error(*refusal_);
  if (driver_ != nullptr) return *driver_;
  try {
    driver_ = open_driver_();
  } catch (const Error& e) {
    if (e.code() == ENODEV) refusal_ = e;
    throw;
  }
  return *driver_;
}

// It does not change while the process lives.
int Gpus::device_count() {
  if (!count_) count_ = driver().device_count();
  return *count_;
}

Gpu& Gpus::gpu(const Place& place) {
  if (const auto known = gpus_.find(place); known != gpus_.end()) return *known->second;
  auto made = std::make_unique<Gpu>(driver(), place.first, place.second);
  return *(gpus_[place] = std::move(made));
}

const ServedType& Gpus::served(ArrowDeviceType type) const {
  const auto found = std::ranges::find(types_, type, &ServedType::type);
  if (found == types_.end()) throw Error(EINVAL, format("device type %d is not of this backend", type));
  return *found;
}

ArrowDeviceType Gpus::type_of(MemoryKind kind) const {
  const auto found = std::ranges::find(types_, kind, &ServedType::kind);
  return found != types_.end() ? found->type : type_of(MemoryKind::kDevice);
}

// Ids are the vendor's ordinals, so that every device of a type has managed memory, or none has.
bool Gpus::serves(const ServedType& type, int ordinal) {
  return type.kind != MemoryKind::kManaged || driver().properties(ordinal).has_managed_memory;
}

int64_t Gpus::count(ArrowDeviceType type) {
  const std::lock_guard lock(mutex_);
  const auto& asked = served(type);
  const int all = device_count();
  int count = 0;
  while (count < all && serves(asked, count)) ++count;
  return count;
}

int Gpus::ordinal_of(const ServedType& served, int64_t id) {
  if (id < 0 || id >= device_count() || !serves(served, static_cast<int>(id))) {
    throw Error(ENODEV, format("there is no device %lld of type %d", static_cast<long long>(id), served.type));
  }
  return static_cast<int>(id);
}

Device& Gpus::device(const ServedType& served, const Place& place) {
  const std::pair key(served.type, place);
  if (const auto known = devices_.find(key); known != devices_.end()) return *known->second;
  auto made = std::make_unique<Device>(gpu(place), served.kind, served.type);
  return *(devices_[key] = std::move(made));
}

Device& Gpus::open(ArrowDeviceType type, int64_t id) {
  const auto& asked = served(type);
  const std::lock_guard lock(mutex_);
  return device(asked, {ordinal_of(asked, id), nullptr});
}

Device& Gpus::adopt(ArrowDeviceType type, int64_t id, Context context) {
  const auto& asked = served(type);
  if (context == nullptr) throw Error(EINVAL, "to adopt a device takes the application's context in `context`");
  const std::lock_guard lock(mutex_);
  const int ordinal = ordinal_of(asked, id);
  const int actual = driver().ordinal_of(context);
  if (actual != ordinal) {
    throw Error(EINVAL, format("the context %p is of GPU %d, whose arrays have that id, and not of GPU %d", context,
                               actual, ordinal));
  }
  const bool is_primary = driver().is_primary(context, ordinal);
  auto& adopted = device(asked, {ordinal, is_primary ? nullptr : context});
  const bool is_new =
      std::ranges::none_of(adoptions_, [&](const auto& other) { return &other.first->gpu == &adopted.gpu; });
  ++adoptions_[&adopted];
  if (is_new && !is_primary) adopted.gpu.forget_loss();
  return adopted;
}

void Gpus::retire(Device& device) {
  const std::lock_guard lock(mutex_);
  const auto noted = adoptions_.find(&device);
  if (noted == adoptions_.end()) throw Error(EINVAL, device.gpu.text() + " was not adopted");
  if (noted->second == 1) device.memory.free_all();
  if (--noted->second == 0) adoptions_.erase(noted);
}

std::vector<Device*> Gpus::adopted(ArrowDeviceType type, int64_t id) const {
  std::vector<Device*> found;
  for (const auto& [device, times] : adoptions_) {
    if (device->type == type && device->gpu.ordinal() == id && !device->gpu.is_lost()) found.push_back(device);
  }
  return found;
}

Device& Gpus::locate(ArrowDeviceType type, int64_t id, const void* buffer) {
  Device& plain = open(type, id);
  if (buffer == nullptr) return plain;
  std::vector<Device*> candidates;
  {
    const std::lock_guard lock(mutex_);
    candidates = adopted(type, id);
  }
  if (candidates.empty() && plain.kind != MemoryKind::kDevice) return plain;
  // Any context can be asked: an adopted one, so that no other is made for the question.
  Gpu& asked = candidates.empty() ? plain.gpu : candidates.front()->gpu;
  const auto facts = asked.use([&](Driver& driver) { return driver.find_pointer(buffer); });
  if (!facts) return plain;
  if (facts->kind == MemoryKind::kDevice && facts->ordinal != plain.gpu.ordinal()) {
    throw Error(EINVAL,
                format("the memory at %p is of GPU %d, not of GPU %d", buffer, facts->ordinal, plain.gpu.ordinal()));
  }
  const auto owner =
      std::ranges::find_if(candidates, [&](Device* one) { return one->gpu.context() == facts->context; });
  return owner != candidates.end() ? **owner : plain;
}

}  // namespace arrowdevice::streams
