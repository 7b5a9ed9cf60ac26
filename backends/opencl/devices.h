// SPDX-License-Identifier: Apache-2.0
// All devices of the process: those with an id, which have a context of ours, and contexts of others.
#pragma once

#include <arrowdevice/backend.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "opencl/device.h"
#include "opencl/platforms.h"

namespace arrowdevice::opencl {

// All functions may be called from any thread. Devices live as long as the process.
class Devices {
 public:
  // Made at first use and never destroyed.
  static Devices& instance();

  int64_t count();

  // With a context of ours, made the first time.
  Device& open(int64_t id);

  // An application's context, and one more reference to it.
  Device& wrap(int64_t id, const arrowdevice_native_device& native);
  void unwrap(Device& device);

  // The device that a buffer or an event belongs to, by its context. The context is not kept alive. Throws ENODEV for
  // an id that neither a device nor a wrapped context has.
  Device& locate(int64_t id, cl_mem buffer, cl_event event);

 private:
  using Key = std::pair<cl_context, cl_device_id>;

  const std::vector<PlatformDevice>& platform_devices();
  const PlatformDevice* with_id(int64_t id);
  Device& instance_of(cl_context context, cl_device_id native);
  bool is_wrapped(cl_context context, int64_t id) const;
  cl_device_id choose(cl_context context, int64_t id, cl_event event);
  const Properties& properties_of(cl_device_id native);

  std::mutex mutex_;  // guards all below; held while the driver makes contexts and is asked about devices
  std::vector<PlatformDevice> platform_devices_;
  std::map<cl_device_id, std::unique_ptr<const Properties>> properties_;
  std::map<int64_t, Device*> opened_;
  std::map<Key, std::unique_ptr<Device>> devices_;
  std::multimap<Key, int64_t> wraps_;  // the ids that contexts were wrapped with
};

}  // namespace arrowdevice::opencl
