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
  // Made at first use and never destroyed.
  static Devices& instance();

  // Throws ENODEV, ENOTSUP. Never a wrapped one.
  Device& get(ArrowDeviceType type, int64_t id);

  // By name: "opencl:0", "cpu". Throws EINVAL for what is no such name.
  Device& find(std::string_view name);

  int64_t count(ArrowDeviceType type);

  // All of all backends, by type, then id. Loads every backend; those that fail are left out and logged.
  std::vector<Device*> list();

  // The device that a foreign buffer or event belongs to: the backend is asked where it can tell, else it is the one
  // with that type and id.
  Device& locate(ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event);

  Device& wrap(ArrowDeviceType type, int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device, const Deadline& deadline);

  // The CPU.
  Device& cpu();

 private:
  // A context of someone else's: wrapped by the application, or brought along by a foreign array.
  struct Context {
    Device* device = nullptr;
    std::unique_ptr<Device> owned;  // NULL: one of the devices with an id
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

  std::mutex mutex_;  // guards the maps; never held while a driver is called
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::map<void*, Context> contexts_;  // by the backend's handle
  std::vector<std::unique_ptr<Device>> unwrapped_;
  std::map<Key, void*> handles_;  // opened, but not described yet
  // One device of a backend is opened at a time: drivers start their platform with the first. Each is taken before
  // mutex_.
  std::map<const backend::Backend*, std::mutex> opening_;
};

// What `to` can do with memory of `from`: ARROWDEVICE_PEER_*.
uint32_t reach(const Device& from, const Device& to);

}  // namespace arrowdevice::device
