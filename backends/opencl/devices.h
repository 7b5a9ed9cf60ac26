// SPDX-License-Identifier: Apache-2.0
// All devices of the process: devices with an id, each in a context of the library, and wrapped contexts.
#pragma once

#include <arrowdevice/backend.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "opencl/device.h"
#include "opencl/platforms.h"

namespace arrowdevice::opencl {

// All functions are thread-safe. Devices live as long as the process.
class Devices {
 public:
  // Returns the instance, which is created at first use and never destroyed.
  static Devices& instance();

  int64_t count();

  // Opens a device in a context of the library, which the first call creates.
  Device& open(int64_t id);

  // Wraps an application's context and adds a reference to it.
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // Returns the device of a buffer or an event, from its context. Does not add a reference to the context. Throws
  // ENODEV if neither a device nor a wrapped context has the id.
  Device& locate(int64_t id, cl_mem buffer, cl_event event);

 private:
  using Key = std::pair<cl_context, cl_device_id>;

  const std::vector<PlatformDevice>& platform_devices();
  const PlatformDevice* with_id(int64_t id);
  Device& instance_of(cl_context context, cl_device_id native);
  bool is_wrapped(cl_context context, int64_t id) const;
  cl_device_id choose(cl_context context, int64_t id, cl_event event);
  const Properties& properties_of(cl_device_id native);

  // guards all members below; held while the driver creates contexts and answers queries about devices
  std::mutex mutex_;
  std::vector<PlatformDevice> platform_devices_;
  std::map<cl_device_id, std::unique_ptr<const Properties>> properties_;
  std::map<int64_t, Device*> opened_;
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::multimap<Key, int64_t> wraps_;  // the ids that contexts were wrapped with
};

}  // namespace arrowdevice::opencl
