// SPDX-License-Identifier: Apache-2.0
// All devices: configured devices, which are opened at first use, and the application's contexts on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sim/configuration.h"
#include "sim/device.h"
#include "sim/handle.h"

namespace arrowdevice::sim {

// Functions that take a handle throw Error(EINVAL) if no live device has it. All functions are thread-safe.
class Devices {
 public:
  using Entry = std::pair<void*, std::shared_ptr<Device>>;

  // Applies the configuration. Open devices continue, except devices whose kind of buffers changes. A new open() call
  // opens those ids again.
  void configure(const Configuration& configuration);

  int64_t count() const;
  Entry open(int64_t id);  // Returns the same device on every call. Throws Error(ENODEV).
  std::shared_ptr<Device> get(const void* handle) const { return live_.get(handle); }
  std::vector<Entry> all() const { return live_.all(); }

  // Wraps a context. `context` is any value by which the application names its contexts. If it names a live device, the
  // result is that device.
  void* wrap(int64_t id, void* context);
  void unwrap(void* handle);

  // Returns the device that owns the buffer, or an empty entry if no device owns it.
  Entry owner(const void* buffer) const;
  void* handle_of(const Device& device) const;

  // Returns bytes that the engine of `device` can access directly.
  Range range(Device& device, const void* buffer, int64_t offset, int64_t size) const;

  // Throws Error(EINVAL) if the pointer is known not to be host memory.
  void check_host(const void* pointer) const;

  Peers peers() const;

 private:
  mutable std::mutex mutex_;  // guards all members except live_
  std::vector<DeviceSettings> settings_{DeviceSettings{}};
  Peers peers_ = Peers::kCopy;
  std::map<int64_t, Entry> opened_;
  std::map<void*, int64_t> wraps_;  // by handle
  Handles<Device> live_{"device"};
};

}  // namespace arrowdevice::sim
