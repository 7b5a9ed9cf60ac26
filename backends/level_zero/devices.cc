// SPDX-License-Identifier: Apache-2.0
#include "level_zero/devices.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

#include "base/log.h"
#include "level_zero/api.h"
#include "level_zero/device.h"

namespace arrowdevice::level_zero {
namespace {

// Level Zero 1. Older versions differ, and later versions are not known.
constexpr uint32_t kMajorVersion = 1;

// Keeps the handles that a call has written. If a driver reports more than requested, the rest would be NULL, and the
// loader would dereference NULL.
template <typename Handle>
void keep_written(std::vector<Handle>& handles, uint32_t count) {
  handles.resize(std::min<size_t>(count, handles.size()));
  std::erase(handles, nullptr);
}

// Returns the drivers in the order of zeInitDrivers. Returns none if the loader does not have it, or if it fails.
std::vector<ze_driver_handle_t> list_ordered_drivers() {
  if (open_api().zeInitDrivers == nullptr) return {};
  InitDriverTypeDesc gpus{.stype = kInitDriverTypeDesc, .next = nullptr, .flags = kInitGpuDrivers};
  uint32_t count = 0;
  if (api().zeInitDrivers(&count, nullptr, &gpus) != ZE_RESULT_SUCCESS || count == 0) return {};
  std::vector<ze_driver_handle_t> drivers(count);
  if (api().zeInitDrivers(&count, drivers.data(), &gpus) != ZE_RESULT_SUCCESS) return {};
  keep_written(drivers, count);
  return drivers;
}

// Returns the drivers in the order of the SYCL runtime: those of zeInitDrivers, then those that only zeDriverGet lists.
// Some loaders list the drivers in opposite orders by the two functions.
std::vector<ze_driver_handle_t> list_drivers() {
  std::vector<ze_driver_handle_t> ordered = list_ordered_drivers();
  uint32_t count = 0;
  check("zeDriverGet", open_api().zeDriverGet(&count, nullptr));
  std::vector<ze_driver_handle_t> drivers(count);
  if (count > 0) check("zeDriverGet", api().zeDriverGet(&count, drivers.data()));
  keep_written(drivers, count);
  std::erase_if(drivers, [&](auto* driver) { return std::ranges::find(ordered, driver) != ordered.end(); });
  ordered.insert(ordered.end(), drivers.begin(), drivers.end());
  return ordered;
}

std::vector<ze_device_handle_t> list_devices(ze_driver_handle_t driver) {
  uint32_t count = 0;
  check("zeDeviceGet", api().zeDeviceGet(driver, &count, nullptr));
  std::vector<ze_device_handle_t> devices(count);
  if (count > 0) check("zeDeviceGet", api().zeDeviceGet(driver, &count, devices.data()));
  keep_written(devices, count);
  return devices;
}

bool is_gpu(ze_device_handle_t device) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  check("zeDeviceGetProperties", api().zeDeviceGetProperties(device, &properties));
  return properties.type == ZE_DEVICE_TYPE_GPU;
}

uint32_t version_of(ze_driver_handle_t driver) {
  ze_api_version_t version{};
  check("zeDriverGetApiVersion", api().zeDriverGetApiVersion(driver, &version));
  return static_cast<uint32_t>(version);
}

// Throws ENODEV if the driver has another major version.
void check_version(uint32_t version) {
  if (ZE_MAJOR_VERSION(version) == kMajorVersion) return;
  throw Error(ENODEV,
              format("a driver is for Level Zero %u.%u and %s: install one for 1.0 or newer", ZE_MAJOR_VERSION(version),
                     ZE_MINOR_VERSION(version), ZE_MAJOR_VERSION(version) < kMajorVersion ? "too old" : "too new"));
}

std::vector<DriverDevice> list_devices_of(ze_driver_handle_t driver) {
  const uint32_t version = version_of(driver);
  check_version(version);
  const DriverFeatures features = features_of(driver, version);
  std::vector<DriverDevice> listed;
  for (auto* const device : list_devices(driver)) {
    if (is_gpu(device)) listed.push_back({driver, device, features});
  }
  return listed;
}

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

// A driver that fails does not hide the GPUs of other drivers.
std::vector<DriverDevice> list_driver_devices() {
  std::vector<DriverDevice> listed;
  std::optional<Error> failed;
  for (auto* const driver : list_drivers()) {
    try {
      const auto found = list_devices_of(driver);
      listed.insert(listed.end(), found.begin(), found.end());
    } catch (const Error& e) {
      failed = e;
    }
  }
  if (listed.empty() && failed && failed->native_code() != 0) throw Error(*failed);
  if (listed.empty()) {
    throw Error(ENODEV, "zeDeviceGet: the Level Zero drivers here have no GPU, or ZE_AFFINITY_MASK hides them" +
                            (failed ? "; " + failed->message() : std::string()));
  }
  if (failed) log(LogLevel::kWarning, "the GPUs of a Level Zero driver are not listed: " + failed->message());
  return listed;
}

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
  auto made = std::make_unique<PhysicalDevice>(native, entry != nullptr ? entry->features : DriverFeatures());
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
    throw Error(EIO, "the driver does not tell if the work in the context has finished");
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
