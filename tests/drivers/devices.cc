// SPDX-License-Identifier: Apache-2.0
#include "drivers/devices.h"

#include "drivers/vendor.h"

namespace drivers {

arrowdevice_device* gpu() { return output_of(arrowdevice_device_find_by_id, vendor().device, int64_t{0}); }

arrowdevice_device* cpu() { return output_of(arrowdevice_device_find_by_id, ARROW_DEVICE_CPU, int64_t{-1}); }

}  // namespace drivers
