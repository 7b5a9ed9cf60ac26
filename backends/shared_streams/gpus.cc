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

Gpu& Gpus::gpu(int ordinal) {
  if (const auto known = gpus_.find(ordinal); known != gpus_.end()) return *known->second;
  auto made = std::make_unique<Gpu>(driver(), ordinal);
  return *(gpus_[ordinal] = std::move(made));
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

Device& Gpus::open(ArrowDeviceType type, int64_t id) {
  const auto& asked = served(type);
  const std::lock_guard lock(mutex_);
  if (const auto known = devices_.find({type, id}); known != devices_.end()) return *known->second;
  if (id < 0 || id >= device_count() || !serves(asked, static_cast<int>(id))) {
    throw Error(ENODEV, format("there is no device %lld of type %d", static_cast<long long>(id), type));
  }
  const int ordinal = static_cast<int>(id);
  auto made = std::make_unique<Device>(gpu(ordinal), asked.kind, type);
  return *(devices_[{type, id}] = std::move(made));
}

}  // namespace arrowdevice::streams
