// SPDX-License-Identifier: Apache-2.0
// The GPUs of all drivers in the order of their ids: drivers as the loader lists them, and the GPUs of each as its
// driver lists them. That is the order of `sycl-ls`, and the same in every process as long as the same drivers are
// installed and the environment makes the same of them (ZE_AFFINITY_MASK, ZE_FLAT_DEVICE_HIERARCHY).
#pragma once

#include <vector>

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

struct DriverDevice {
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  bool has_in_order_lists;
};

// Throws ENODEV with the reason where there are none.
std::vector<DriverDevice> list_driver_devices();

}  // namespace arrowdevice::level_zero
