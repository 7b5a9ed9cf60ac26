// SPDX-License-Identifier: Apache-2.0
// All devices of the process: devices with an id, in one context of the library for each driver, and devices in wrapped
// contexts.
#pragma once

#include <arrowdevice/backend.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "level_zero/api.h"
#include "level_zero/device.h"

namespace arrowdevice::level_zero {

// A GPU of a driver.
struct DriverDevice {
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  DriverFeatures features;
};

// Returns the GPUs of all drivers in the order of their ids, which is the order of `sycl-ls`. Drivers are in the order
// of the loader's zeInitDrivers, or of zeDriverGet below loaders before 1.19.2, and the GPUs of a driver in its own
// order. The order is the same in every process while the installed drivers, ZE_AFFINITY_MASK and
// ZE_FLAT_DEVICE_HIERARCHY do not change. Throws ENODEV with the reason if there are no GPUs.
std::vector<DriverDevice> list_driver_devices();

// All functions are thread-safe. Devices live as long as the process.
class Devices {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static Devices& instance();

  int64_t count();

  // Opens a device in the library's context, which the first call creates.
  Device& open(int64_t id);

  // Wraps a device in an application's context.
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // Returns the device of arrays with this id, from one of their buffers. Throws ENODEV if neither a device nor a
  // wrapped device has the id.
  Device& locate(int64_t id, const void* buffer);

  // driver_of() returns a device's driver, or NULL if the device is not listed. id_of() returns a device's id, or -1 if
  // it is not listed.
  ze_driver_handle_t driver_of(const Device& device);
  int64_t id_of(ze_device_handle_t native);

 private:
  using Key = std::pair<ze_context_handle_t, ze_device_handle_t>;

  const std::vector<DriverDevice>& listed();  // The functions from here to owner() require mutex_.
  const DriverDevice* with_id(int64_t id);
  const DriverDevice* find(ze_device_handle_t native);
  PhysicalDevice& physical(ze_device_handle_t native);
  Context& context(ze_context_handle_t native);
  Context& own_context(ze_driver_handle_t driver);
  Device& instance_of(Context& context, ze_device_handle_t native);
  Device& open_locked(int64_t id);
  Device* owner(Device& candidate, const void* buffer);

  // guards all members below; held while the driver creates contexts and answers queries about devices
  std::mutex mutex_;
  std::vector<DriverDevice> listed_;
  std::map<ze_device_handle_t, std::unique_ptr<PhysicalDevice>> physical_;
  std::map<ze_context_handle_t, std::unique_ptr<Context>> contexts_;
  std::map<ze_driver_handle_t, Context*> own_contexts_;
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::optional<MemoryKind> memory_kind_;
  std::multimap<Device*, int64_t> wraps_;  // the ids that devices were wrapped with
};

}  // namespace arrowdevice::level_zero
