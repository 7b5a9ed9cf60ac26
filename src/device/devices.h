// SPDX-License-Identifier: Apache-2.0
// All devices of the process, by type and id.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "device/device.h"

namespace arrowdevice::device {

class Devices {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static Devices& instance();

  // Returns the device with this id, never a wrapped one. Throws ENODEV or ENOTSUP.
  Device& get(ArrowDeviceType type, int64_t id);

  // Finds a device by name, for example "opencl:0" or "cpu". Throws EINVAL if `name` has another form.
  Device& find(std::string_view name);

  int64_t count(ArrowDeviceType type);

  // Returns true if all devices of a type that can be opened have memory that other processes can open. Throws ENODEV
  // or ENOTSUP if the type has no backend.
  bool has_shareable_memory(ArrowDeviceType type);

  // Returns all devices of all backends, ordered by type, then id. Loads every backend. Device types that fail are
  // omitted and logged.
  std::vector<Device*> list();

  // Returns the device that a foreign buffer or event belongs to. Asks the backend if it can tell, else uses the device
  // with that type and id.
  Device& locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event);

  Device& wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device, const Deadline& deadline);

  // Returns the CPU device.
  Device& cpu();

 private:
  // A foreign context: the application wrapped it, or a foreign array refers to it.
  struct Context {
    Device* device = nullptr;
    std::unique_ptr<Device> owned;  // NULL for a device that has an id
    int64_t wraps = 0;
    bool is_unwrapping = false;
  };
  using Key = std::pair<ArrowDeviceType, int64_t>;

  Device* opened(const Key& key);
  void*& handle_of(const Key& key);
  std::mutex& opening_of(const backend::Backend& backend);
  Device& open(const backend::Backend& backend, ArrowDeviceType type, int64_t id);
  Device* promote(const Key& key, void* handle);
  const backend::Backend& backend_of(ArrowDeviceType type);
  Device& context(const backend::Backend& backend, ArrowDeviceType type, int64_t id, void* handle, bool wraps);
  bool begin_unwrapping(const Device& device);
  void end_unwrapping(const Device& device, bool is_unwrapped);

  std::mutex mutex_;  // guards the maps; never held during a driver call
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::map<void*, Context> contexts_;  // by the backend's handle
  std::vector<std::unique_ptr<Device>> unwrapped_;
  std::map<Key, void*> handles_;  // opened, but without a Device yet
  // The library opens a backend's devices one after the other, because drivers start their platform with the first.
  // Each mutex is locked before mutex_.
  std::map<const backend::Backend*, std::mutex> opening_;
};

// Returns the ARROWDEVICE_PEER_* flags for memory of `from` that `to` uses.
uint32_t peer_flags(const Device& from, const Device& to);

}  // namespace arrowdevice::device
