// SPDX-License-Identifier: Apache-2.0
// All devices: those that there are, opened when asked for, and contexts of the application on them.
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

// Functions that take a handle throw Error(EINVAL) if it is not of a live device. Thread-safety: free.
class Devices {
 public:
  using Entry = std::pair<void*, std::shared_ptr<Device>>;

  // Devices that are open go on, but for those whose buffers would be of another kind: their ids are opened anew.
  void configure(const Configuration& configuration);

  int64_t count() const;
  Entry open(int64_t id);  // throws Error(ENODEV); the same one every time
  std::shared_ptr<Device> get(const void* handle) const { return live_.get(handle); }
  std::vector<Entry> all() const { return live_.all(); }

  // `context` is anything that the application tells its contexts by. That of a live device is that device.
  void* wrap(int64_t id, void* context);
  void unwrap(void* handle);

  // The device whose memory a buffer is; nothing if it is not memory of any.
  Entry owner(const void* buffer) const;
  void* handle_of(const Device& device) const;

  // Bytes that the engine of `device` uses as its own.
  Range range(Device& device, const void* buffer, int64_t offset, int64_t size) const;

  // Throws Error(EINVAL) for what is known not to be host memory.
  void check_host(const void* pointer) const;

  Peers peers() const;

 private:
  mutable std::mutex mutex_;  // guards all but live_
  std::vector<DeviceSettings> settings_{DeviceSettings{}};
  Peers peers_ = Peers::kCopy;
  std::map<int64_t, Entry> opened_;
  std::map<void*, int64_t> wraps_;  // by handle
  Handles<Device> live_{"device"};
};

}  // namespace arrowdevice::sim
