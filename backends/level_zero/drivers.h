// SPDX-License-Identifier: Apache-2.0
// The GPUs of all drivers in the order of their ids. Drivers are in the loader's order, and the GPUs of a driver in its
// own order. `sycl-ls` uses the same order.
// The order is the same in every process while the installed drivers, ZE_AFFINITY_MASK and ZE_FLAT_DEVICE_HIERARCHY do
// not change.
#pragma once

#include <vector>

#include "level_zero/vendor.h"

namespace arrowdevice::level_zero {

struct DriverDevice {
  ze_driver_handle_t driver;
  ze_device_handle_t device;
  bool has_in_order_lists;
};

// Throws ENODEV with the reason if there are no GPUs.
std::vector<DriverDevice> list_driver_devices();

}  // namespace arrowdevice::level_zero
