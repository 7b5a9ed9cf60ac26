// SPDX-License-Identifier: Apache-2.0
#include "level_zero/devices.h"

#include <algorithm>
#include <cerrno>

#include "level_zero/api.h"
#include "level_zero/codes.h"
#include "level_zero/lookup.h"

namespace arrowdevice::level_zero {
namespace {

// Destroys the context unless the caller takes it.
class UniqueContext {
 public:
  explicit UniqueContext(ze_driver_handle_t driver) {
    ze_context_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
    check("zeContextCreate", api().zeContextCreate(driver, &description, &native_));
  }
  ~UniqueContext() {
    if (native_ != nullptr) static_cast<void>(api().zeContextDestroy(native_));
  }
  UniqueContext(const UniqueContext&) = delete;
  UniqueContext& operator=(const UniqueContext&) = delete;

  ze_context_handle_t get() const noexcept { return native_; }
  void keep() noexcept { native_ = nullptr; }

 private:
  ze_context_handle_t native_ = nullptr;
};

Error no_device(int64_t id) {
  return {ENODEV, format("there is no Level Zero device %lld", static_cast<long long>(id))};
}

}  // namespace

Devices& Devices::instance() {
  static auto& devices = *new Devices;
  return devices;
}

const std::vector<DriverDevice>& Devices::listed() {
  if (listed_.empty()) listed_ = list_driver_devices();
  return listed_;
}

const DriverDevice* Devices::with_id(int64_t id) {
  const auto& all = listed();
  return id >= 0 && id < static_cast<int64_t>(all.size()) ? &all[static_cast<size_t>(id)] : nullptr;
}

const DriverDevice* Devices::find(ze_device_handle_t native) {
  const auto found = std::ranges::find(listed_, native, &DriverDevice::device);
  return found != listed_.end() ? &*found : nullptr;
}

int64_t Devices::count() {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(listed().size());
}

PhysicalDevice& Devices::physical(ze_device_handle_t native) {
  if (const auto known = physical_.find(native); known != physical_.end()) return *known->second;
  const auto* const entry = find(native);  // a sub-device is not listed
  auto made = std::make_unique<PhysicalDevice>(native, entry != nullptr && entry->has_in_order_lists);
  return *(physical_[native] = std::move(made));
}

Context& Devices::context(ze_context_handle_t native) {
  if (const auto known = contexts_.find(native); known != contexts_.end()) return *known->second;
  auto made = std::make_unique<Context>(native);
  return *(contexts_[native] = std::move(made));
}

// Puts all devices of a driver in one context, so that they can access each other's memory and wait for each other's
// events.
Context& Devices::own_context(ze_driver_handle_t driver) {
  Context*& own = own_contexts_[driver];
  if (own == nullptr) {
    UniqueContext made(driver);
    own = &context(made.get());
    made.keep();
  }
  return *own;
}

Device& Devices::instance_of(Context& context, ze_device_handle_t native) {
  const Key key{context.native(), native};
  if (const auto known = devices_.find(key); known != devices_.end()) return *known->second;
  if (!memory_kind_) memory_kind_ = chosen_memory_kind();
  auto made = std::make_unique<Device>(context, physical(native), *memory_kind_);
  return *(devices_[key] = std::move(made));
}

Device& Devices::open_locked(int64_t id) {
  const auto* const entry = with_id(id);
  if (entry == nullptr) throw no_device(id);
  return instance_of(own_context(entry->driver), entry->device);
}

Device& Devices::open(int64_t id) {
  const std::lock_guard lock(mutex_);
  return open_locked(id);
}

Device& Devices::wrap(int64_t id, const arrowdevice_native_device& native) {
  if (native.context == nullptr) {
    throw Error(EINVAL, "to wrap a Level Zero device takes its ze_context_handle_t in `context`");
  }
  const std::lock_guard lock(mutex_);
  const auto* const entry = with_id(id);
  auto* device = static_cast<ze_device_handle_t>(native.device);
  if (device == nullptr) {
    if (entry == nullptr) throw Error(EINVAL, "name the ze_device_handle_t in `device`: no GPU has that id");
    device = entry->device;
  }
  auto& wrapped = instance_of(context(static_cast<ze_context_handle_t>(native.context)), device);
  wraps_.emplace(&wrapped, id);
  return wrapped;
}

void Devices::unwrap(Device& device) {
  const std::lock_guard lock(mutex_);
  const auto noted = wraps_.find(&device);
  if (noted == wraps_.end()) throw Error(EINVAL, "the Level Zero device was not wrapped");
  // Another device of the same context may still be in use.
  const bool is_last = std::ranges::none_of(
      wraps_, [&](const auto& other) { return &other != &*noted && &other.first->context() == &device.context(); });
  const bool is_ours =
      std::ranges::any_of(own_contexts_, [&](const auto& own) { return own.second == &device.context(); });
  if (is_last && !is_ours && !device.context().leave(device.physical())) {
    throw Error(EIO, "the driver does not say that the work in the context is over");
  }
  wraps_.erase(noted);
}

// Returns the device that owns the memory, if the candidate's context knows the memory.
Device* Devices::owner(Device& candidate, const void* buffer) {
  const auto found = candidate.physical().use([&] { return find_allocation(candidate.context().native(), buffer); });
  if (!found) return nullptr;
  const bool is_others = found->type == ZE_MEMORY_TYPE_DEVICE && found->device != candidate.physical().native();
  const auto* const other = is_others ? find(found->device) : nullptr;
  return other != nullptr ? &instance_of(candidate.context(), other->device) : &candidate;
}

Device& Devices::locate(int64_t id, const void* buffer) {
  const std::lock_guard lock(mutex_);
  std::vector<Device*> candidates;
  for (const auto& [wrapped, its_id] : wraps_) {
    if (its_id == id) candidates.push_back(wrapped);
  }
  // Appends this device last, because some drivers also know memory of other contexts.
  if (with_id(id) != nullptr) candidates.push_back(&open_locked(id));
  if (candidates.empty()) throw no_device(id);
  if (buffer != nullptr) {
    for (Device* const candidate : candidates) {
      if (Device* const found = owner(*candidate, buffer)) return *found;
    }
  }
  return *candidates.back();
}

ze_driver_handle_t Devices::driver_of(const Device& device) {
  const std::lock_guard lock(mutex_);
  const auto* const entry = find(device.physical().native());
  return entry != nullptr ? entry->driver : nullptr;
}

int64_t Devices::id_of(ze_device_handle_t native) {
  const std::lock_guard lock(mutex_);
  const auto* const entry = find(native);
  return entry != nullptr ? entry - listed_.data() : -1;
}

}  // namespace arrowdevice::level_zero
