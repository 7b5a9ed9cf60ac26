// SPDX-License-Identifier: Apache-2.0
// All devices of the backend: those of its own instance, by id, and those that applications lent it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/device.h"

namespace arrowdevice::vulkan {

// All functions may be called from any thread.
class Devices {
 public:
  // Made at first use and never destroyed: arrays may outlive everything else. Throws EINVAL where the environment asks
  // for what there is not.
  static Devices& instance();

  int64_t count();
  Device& open(int64_t id);
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // Whose they are; either may be NULL. A VkBuffer and a VkEvent say nothing of it themselves, so it is who made them,
  // or else the one device that was wrapped with this id. Throws ENODEV with what is to be done.
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
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Instance> instance_;
  std::map<int64_t, std::unique_ptr<Device>> opened_;
  std::map<void*, Wrapped> wrapped_;  // by VkDevice
};

}  // namespace arrowdevice::vulkan
