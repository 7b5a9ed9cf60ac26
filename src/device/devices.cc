// SPDX-License-Identifier: Apache-2.0
#include "device/devices.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "backend/device_types.h"
#include "backend/registry.h"
#include "base/log.h"
#include "base/process.h"
#include "device/deferred.h"
#include "device/queue.h"

namespace arrowdevice::device {

namespace {

// Throws ENODEV if drivers must not be called: after `exit` has begun, or in a child of the process that opened them.
void check_process(ArrowDeviceType type) {
  if (type == ARROW_DEVICE_CPU || process::drivers_usable()) return;
  const char* const why =
      process::is_forked_child() ? ": drivers were opened before this process was forked" : ": exit has begun";
  throw Error(ENODEV, backend::device_type_text(type) + why);
}

}  // namespace

[[gnu::hot]] Devices& Devices::instance() {
  static auto* const devices = [] {
    auto made = std::make_unique<Devices>();
    process::keep_usable_across_fork(made->mutex_);
    return made.release();
  }();
  return *devices;
}

[[gnu::hot]] Device& Devices::cpu() {
  static Device& cpu = get(ARROW_DEVICE_CPU, 0);
  return cpu;
}

const backend::Backend& Devices::backend_of(ArrowDeviceType type) {
  auto& registry = backend::Registry::instance();
  const auto* backend = registry.find(type);
  if (backend != nullptr) return *backend;
  if (backend::find_device_type(type) == nullptr) {
    throw Error(ENOTSUP, "the format names no " + backend::device_type_text(type) + " and no backend serves it");
  }
  const auto why = registry.refusals(type);
  throw Error(ENODEV,
              "there is no backend for " + backend::device_type_text(type) + (why.empty() ? "" : " (" + why + ")"));
}

Device* Devices::opened(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = devices_.find(key);
  return found == devices_.end() ? nullptr : found->second.get();
}

// Returns the handle's slot, which is NULL until the device is opened. The slot does not move, and the thread that
// holds the lock of opening_of() its backend owns it.
void*& Devices::handle_of(const Key& key) {
  const std::lock_guard lock(mutex_);
  return handles_[key];
}

std::mutex& Devices::opening_of(const backend::Backend& backend) {
  const std::lock_guard lock(mutex_);
  return opening_[&backend];
}

Device& Devices::get(ArrowDeviceType type, int64_t id) {
  id = backend::canonical_device_id(type, id);
  if (auto* device = opened({type, id})) return *device;
  return open(backend_of(type), type, id);
}

bool Devices::has_shareable_memory(ArrowDeviceType type) {
  if (backend_of(type).table().shareable_allocate == nullptr) return false;
  bool has_any = false;
  for (int64_t id = 0; id < count(type); ++id) {
    try {
      if (!get(type, id).has_shareable_memory()) return false;
      has_any = true;
    } catch (const Error& error) {
      if (error.code() == ENOMEM) throw;
    }
  }
  return has_any;
}

Device& Devices::open(const backend::Backend& backend, ArrowDeviceType type, int64_t id) {
  const std::lock_guard opening(opening_of(backend));
  if (auto* device = opened({type, id})) return *device;
  check_process(type);
  if (type != ARROW_DEVICE_CPU) process::drivers_opened();
  int64_t count = 0;
  backend.call("device_count", backend.table().device_count, type, &count);
  process::watch_exit();
  if (id < 0 || id >= count) {
    throw Error(ENODEV,
                format("there is no %s: the backend %s has %lld devices of this type",
                       backend::device_text(type, id).c_str(), backend.name().c_str(), static_cast<long long>(count)));
  }
  // The device is opened once, even if the first description fails.
  void*& handle = handle_of({type, id});
  if (handle == nullptr) backend.call("device_open", backend.table().device_open, type, id, &handle);
  process::watch_exit();
  if (auto* device = promote({type, id}, handle)) return *device;
  auto device = std::make_unique<Device>(backend, type, id, handle, false);
  const std::lock_guard lock(mutex_);
  return *(devices_[{type, id}] = std::move(device));
}

// Gives an id to a device that the application wrapped earlier, because the backend has one device for both. Returns
// NULL if there is no such device.
Device* Devices::promote(const Key& key, void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(handle);
  if (found == contexts_.end() || found->second.owned == nullptr || found->second.is_unwrapping) return nullptr;
  found->second.device->set_wrapped(false);
  found->second.device->set_borrowed(false);
  auto& place = devices_[key];
  place = std::move(found->second.owned);
  return place.get();
}

Device& Devices::find(std::string_view name) {
  const auto colon = name.find(':');
  const auto type_name = name.substr(0, colon);
  const auto* type = backend::find_device_type(type_name);
  if (type == nullptr) {
    const auto* const nearest = backend::nearest_device_type(type_name);
    throw Error(EINVAL, "there is no device type \"" + std::string(type_name) + "\"" +
                            (nearest == nullptr ? "" : std::string(" (did you mean \"") + nearest->name + "\"?)"));
  }
  int64_t id = 0;
  if (colon != name.npos) {
    const auto digits = name.substr(colon + 1);
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (failure != std::errc() || end != digits.data() + digits.size() || id < 0) {
      throw Error(EINVAL, "\"" + std::string(name) + "\" does not end with a device id");
    }
  }
  return get(type->type, id);
}

int64_t Devices::count(ArrowDeviceType type) {
  const auto* backend = backend::Registry::instance().find(type);
  if (backend == nullptr) {
    if (backend::find_device_type(type) != nullptr) return 0;
    throw Error(ENOTSUP, "the format names no " + backend::device_type_text(type) + " and no backend serves it");
  }
  check_process(type);
  if (type != ARROW_DEVICE_CPU) process::drivers_opened();
  int64_t count = 0;
  backend->try_call(ENODEV, "device_count", backend->table().device_count, type, &count);
  return count;
}

std::vector<Device*> Devices::list() {
  std::vector<ArrowDeviceType> types;
  for (const auto* backend : backend::Registry::instance().load_all()) {
    types.insert(types.end(), backend->device_types().begin(), backend->device_types().end());
  }
  std::ranges::sort(types);
  std::vector<Device*> all;
  for (const auto type : types) {
    try {
      const int64_t n = count(type);
      for (int64_t id = 0; id < n; ++id) all.push_back(&get(type, id));
    } catch (const Error& e) {
      log(LogLevel::kWarning, backend::device_type_text(type) + " is left out: " + e.message());
    }
  }
  return all;
}

Device& Devices::locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event) {
  const auto& backend = backend_of(type);
  id = backend::canonical_device_id(type, id);
  if (backend.table().device_locate == nullptr || (buffer == nullptr && sync_event == nullptr)) return get(type, id);
  check_process(type);
  Device* plain = nullptr;
  try {
    plain = &get(type, id);
  } catch (const Error& e) {
    if (e.code() != ENODEV) throw;  // the id may belong to a wrapped context only
  }
  void* handle = nullptr;
  try {
    backend.call("device_locate", backend.table().device_locate, type, id, buffer, sync_event, &handle);
  } catch (const Error& e) {
    // A backend that does not know the memory leaves the choice to the id. All other errors go to the caller. ENODEV,
    // for example, means that the memory belongs to no context that the backend knows, so the id's device could not use
    // it.
    if (e.code() != EINVAL && e.code() != ENOTSUP) throw;
  }
  if (handle == nullptr) return plain != nullptr ? *plain : get(type, id);
  if (plain != nullptr && plain->handle() == handle) return *plain;
  return context(backend, type, id, handle, false);
}

Device& Devices::context(const backend::Backend& backend, ArrowDeviceType type, int64_t id, void* handle, bool wraps) {
  const auto known = [&]() -> Device* {  // needs mutex_
    auto found = contexts_.find(handle);
    if (found == contexts_.end()) {
      const auto with_id = std::ranges::find_if(devices_, [&](const auto& entry) {
        return entry.second->handle() == handle && &entry.second->backend() == &backend;
      });
      if (with_id == devices_.end()) return nullptr;
      found = contexts_.try_emplace(handle).first;
      found->second.device = with_id->second.get();
    }
    if (wraps && found->second.is_unwrapping) {
      throw Error(EBUSY, found->second.device->text() + " is being unwrapped by another thread");
    }
    found->second.wraps += wraps;
    if (wraps) found->second.device->set_borrowed(false);
    return found->second.device;
  };
  {
    const std::lock_guard lock(mutex_);
    if (auto* device = known()) return *device;
  }
  auto device = std::make_unique<Device>(backend, type, id, handle, true);
  device->set_borrowed(!wraps);
  const std::lock_guard lock(mutex_);
  if (auto* other = known()) return *other;
  auto& place = contexts_[handle];
  place.device = device.get();
  place.owned = std::move(device);
  place.wraps = wraps;
  return *place.device;
}

Device& Devices::wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native) {
  const auto& backend = backend_of(type);
  backend.require("device_wrap", backend.table().device_wrap);
  const std::lock_guard opening(opening_of(backend));
  check_process(type);
  if (type != ARROW_DEVICE_CPU) process::drivers_opened();
  void* handle = nullptr;
  backend.call("device_wrap", backend.table().device_wrap, type, id, &native, &handle);
  process::watch_exit();
  try {
    return context(backend, type, id, handle, true);
  } catch (...) {
    arrowdevice_error unseen{};  // the caller gets the first error
    backend.table().device_unwrap(handle, &unseen);
    throw;
  }
}

// Removes one wrap. Returns true if it was the last wrap of a context that is to be destroyed. Other threads cannot
// unwrap the context meanwhile.
bool Devices::begin_unwrapping(const Device& device) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(device.handle());
  if (found == contexts_.end() || found->second.wraps == 0) {
    throw Error(EINVAL, device.text() + " was not wrapped, or is unwrapped already");
  }
  auto& context = found->second;
  if (context.is_unwrapping) throw Error(EBUSY, device.text() + " is being unwrapped by another thread");
  const bool is_last = context.wraps == 1 && context.owned != nullptr;
  if (is_last) {
    context.is_unwrapping = true;
  } else {
    --context.wraps;
  }
  return is_last;
}

void Devices::end_unwrapping(const Device& device, bool is_unwrapped) {
  const std::lock_guard lock(mutex_);
  const auto found = contexts_.find(device.handle());
  found->second.is_unwrapping = false;
  if (!is_unwrapped) return;
  unwrapped_.push_back(std::move(found->second.owned));  // its pointer stays valid, so that calls fail with ENODEV
  contexts_.erase(found);
}

void Devices::unwrap(Device& device, const Deadline& deadline) {
  device.check_usable();
  const auto& backend = device.backend();
  backend.require("device_unwrap", backend.table().device_unwrap);
  if (!begin_unwrapping(device)) {
    try {
      backend.call("device_unwrap", backend.table().device_unwrap, device.handle());
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (const auto found = contexts_.find(device.handle()); found != contexts_.end()) ++found->second.wraps;
      throw;
    }
    return;
  }
  try {
    if (!DeferredWork::instance().wait_idle(deadline)) {
      throw Error(ETIMEDOUT, "work on " + device.text() + " is not done yet");
    }
    device.drop_idle();
    if (device.has_users()) throw Error(EBUSY, "arrays, pools or queues of " + device.text() + " are alive");
    {
      const std::lock_guard lock(mutex_);
      // Reserves memory first, so that nothing fails after the backend has unwrapped the device. This covers contexts
      // that other threads unwrap meanwhile.
      unwrapped_.reserve(unwrapped_.size() + contexts_.size());
    }
    device.unwrap();
  } catch (...) {
    end_unwrapping(device, false);
    throw;
  }
  end_unwrapping(device, true);
}

uint32_t peer_flags(const Device& from, const Device& to) {
  constexpr uint32_t kBoth = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
  if (&from == &to) return kBoth;
  const auto ask = [](const Device& asked, const Device* source, const Device* target) {
    uint32_t out = 0;
    const auto& backend = asked.backend();
    backend.call("device_get_peer_flags", backend.table().device_get_peer_flags,
                 source != nullptr ? source->handle() : nullptr, target != nullptr ? target->handle() : nullptr, &out);
    return out;
  };
  if (to.is_cpu() || from.is_cpu()) {
    const Device& other = to.is_cpu() ? from : to;
    uint32_t out = ARROWDEVICE_PEER_COPY;
    if (to.is_cpu() && from.is_on_host()) out |= ARROWDEVICE_PEER_ACCESS;
    if (other.backend().table().device_get_peer_flags != nullptr) {
      out |= ask(other, from.is_cpu() ? nullptr : &from, to.is_cpu() ? nullptr : &to);
    }
    return out;
  }
  if (&from.backend() == &to.backend()) {
    return from.backend().table().device_get_peer_flags != nullptr ? ask(from, &from, &to) : 0;
  }
  // Devices of different vendors share only the host's view of the memory.
  const auto is_host_memory = [](const Device& device) { return device.is_host_readable() && device.has_addresses(); };
  return is_host_memory(from) || is_host_memory(to) ? uint32_t{ARROWDEVICE_PEER_COPY} : 0;
}

}  // namespace arrowdevice::device
