// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/gpus.h"

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace arrowdevice::cuda_like {
namespace {

std::optional<PointerFacts> find(Device& asked, const void* buffer) {
  return asked.gpu.use([&](Driver& driver) { return driver.find_pointer(buffer); });
}

void check_ordinal(const Device& named, const void* buffer, const std::optional<PointerFacts>& facts) {
  if (!facts || facts->kind != MemoryKind::kDevice || facts->ordinal == named.gpu.ordinal()) return;
  throw Error(EINVAL,
              format("the memory at %p is of GPU %d, not of GPU %d", buffer, facts->ordinal, named.gpu.ordinal()));
}

}  // namespace

// Keeps the first failure, because a driver that does not start is slow and fails with the same error each time.
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

// Caches the count, because it does not change while the process runs.
int Gpus::device_count() {
  if (!count_) count_ = driver().device_count();
  return *count_;
}

Gpu& Gpus::gpu(const Place& place) {
  if (const auto known = gpus_.find(place); known != gpus_.end()) return *known->second;
  auto made = std::make_unique<Gpu>(driver(), place.ordinal, place.wrapped);
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

// Ids are the vendor's ordinals, so either every device of a type has managed memory or none has.
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

Device& Gpus::wrap(ArrowDeviceType type, int64_t id, Context context) {
  const auto& asked = served(type);
  if (context == nullptr) throw Error(EINVAL, "to wrap a device takes the application's context in `context`");
  const std::lock_guard lock(mutex_);
  const int ordinal = ordinal_of(asked, id);
  const int actual = driver().ordinal_of(context);
  if (actual != ordinal) {
    throw Error(EINVAL, format("the context %p is of GPU %d, whose arrays have that id, and not of GPU %d", context,
                               actual, ordinal));
  }
  const bool is_primary = driver().is_primary(context, ordinal);
  auto& wrapped = device(asked, {ordinal, is_primary ? nullptr : context});
  const std::lock_guard alone(wraps_mutex_);
  const bool is_new =
      std::ranges::none_of(wraps_, [&](const auto& other) { return &other.first->gpu == &wrapped.gpu; });
  ++wraps_[&wrapped];
  if (is_new && !is_primary) wrapped.gpu.forget_loss();
  return wrapped;
}

void Gpus::unwrap(Device& device) {
  {
    const std::lock_guard alone(wraps_mutex_);
    const auto noted = wraps_.find(&device);
    if (noted == wraps_.end()) throw Error(EINVAL, device.gpu.text() + " was not wrapped");
    if (--noted->second > 0) return;
    wraps_.erase(noted);
  }
  if (!device.gpu.is_wrapped()) return;
  try {
    device.memory.free_all();
    device.gpu.trim();
  } catch (...) {
    const std::lock_guard alone(wraps_mutex_);
    ++wraps_[&device];
    throw;
  }
}

Device& Gpus::locate(ArrowDeviceType type, int64_t id, const void* buffer) {
  Device& plain = open(type, id);
  if (buffer == nullptr) return plain;
  const std::shared_lock together(wraps_mutex_);
  std::vector<Device*> wrapped;
  for (const auto& [device, times] : wraps_) {
    const bool is_same = device->type == type && device->gpu.ordinal() == plain.gpu.ordinal();
    if (is_same && device != &plain) wrapped.push_back(device);
  }
  if (!wrapped.empty()) return locate_wrapped(plain, wrapped, buffer);
  if (plain.kind == MemoryKind::kDevice) check_ordinal(plain, buffer, find(plain, buffer));
  return plain;
}

// Any context can identify the memory of all contexts. A lost context is not queried, but the memory may still belong
// to it.
Device& Gpus::locate_wrapped(Device& plain, std::span<Device* const> wrapped, const void* buffer) {
  const auto owner_by = [&](Device& asked) -> Device& {
    const auto facts = find(asked, buffer);
    check_ordinal(plain, buffer, facts);
    const auto owner =
        std::ranges::find_if(wrapped, [&](Device* one) { return facts && one->gpu.context() == facts->context; });
    return owner != wrapped.end() ? **owner : plain;
  };
  std::optional<Error> failure;
  for (Device* const one : wrapped) {
    if (one->gpu.is_lost()) continue;
    try {
      return owner_by(*one);
    } catch (const Error& e) {
      if (e.native_code() == 0) throw;  // a verdict, not a failed driver call
      failure = Error(EIO, e.message(), {}, e.native_code());
    }
  }
  // Does not create the primary context for the query. If that context does not exist, the memory cannot belong to it.
  if (plain.gpu.driver().has_primary_context(plain.gpu.ordinal())) return owner_by(plain);
  if (failure) throw Error(*failure);
  return *wrapped.front();  // All contexts are lost, and later calls report it.
}

}  // namespace arrowdevice::cuda_like
