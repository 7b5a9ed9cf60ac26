// SPDX-License-Identifier: Apache-2.0
// All devices of the backend: the devices of its own instance, by id, and the devices that applications wrap.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/device.h"

namespace arrowdevice::vulkan {

// All functions are thread-safe.
class Devices {
 public:
  // Returns the instance, which is created at first use. It is never destroyed, because arrays may live until the
  // process ends. Throws EINVAL if an environment variable is invalid.
  static Devices& instance();

  int64_t count();
  Device& open(int64_t id);
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // Returns the device of a buffer and an event. Either may be NULL. A VkBuffer or VkEvent does not name its device, so
  // this is the device that created it. Otherwise it is the only wrapped device with this id. Throws ENODEV with advice
  // if neither exists.
  Device& locate(int64_t id, const void* buffer, void* sync_event);

 private:
  struct Wrapped {
    std::unique_ptr<Device> device;
    int64_t times = 0;
  };

  Devices() = default;

  Instance& running();
  Device* owner(VkBuffer buffer, VkEvent event);

  const Options options_ = Options::from_environment();
  std::mutex mutex_;  // guards the members below
  std::unique_ptr<Instance> instance_;
  std::map<int64_t, std::unique_ptr<Device>> opened_;
  std::map<void*, Wrapped> wrapped_;  // by VkDevice
};

}  // namespace arrowdevice::vulkan
