// SPDX-License-Identifier: Apache-2.0
// All devices of the process: those with an id, which are in a context of ours for each driver, and devices in contexts
// of others.
#pragma once

#include <arrowdevice/backend.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "level_zero/device.h"
#include "level_zero/drivers.h"

namespace arrowdevice::level_zero {

// All functions may be called from any thread. Devices live as long as the process.
class Devices {
 public:
  // Made at first use and never destroyed.
  static Devices& instance();

  int64_t count();

  // In a context of ours, made the first time.
  Device& open(int64_t id);

  // In an application's context.
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // The device that arrays with this id are on, by one of their buffers. Throws ENODEV for an id that neither a device
  // nor a wrapped one has.
  Device& locate(int64_t id, const void* buffer);

  // The driver of a device; NULL if it is not listed. And its id, -1 likewise.
  ze_driver_handle_t driver_of(const Device& device);
  int64_t id_of(ze_device_handle_t native);

 private:
  using Key = std::pair<ze_context_handle_t, ze_device_handle_t>;

  const std::vector<DriverDevice>& listed();  // these need mutex_
  const DriverDevice* with_id(int64_t id);
  const DriverDevice* find(ze_device_handle_t native);
  PhysicalDevice& physical(ze_device_handle_t native);
  Context& context(ze_context_handle_t native);
  Context& own_context(ze_driver_handle_t driver);
  Device& instance_of(Context& context, ze_device_handle_t native);
  Device& open_locked(int64_t id);
  Device* owner(Device& candidate, const void* buffer);

  std::mutex mutex_;  // guards all below; held while the driver makes contexts and is asked about devices
  std::vector<DriverDevice> listed_;
  std::map<ze_device_handle_t, std::unique_ptr<PhysicalDevice>> physical_;
  std::map<ze_context_handle_t, std::unique_ptr<Context>> contexts_;
  std::map<ze_driver_handle_t, Context*> own_contexts_;
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::optional<MemoryKind> memory_kind_;
  std::multimap<Device*, int64_t> wraps_;  // the ids that devices were wrapped with
};

}  // namespace arrowdevice::level_zero
