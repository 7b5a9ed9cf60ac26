// SPDX-License-Identifier: Apache-2.0
#include "drivers/level_zero/table_calls.h"

#include "drivers/table.h"

namespace level_zero {

void* gpu(int64_t id) { return drivers::open(ARROW_DEVICE_ONEAPI, id); }

void* wrap(int64_t id, ze_context_handle_t context, ze_device_handle_t device) {
  arrowdevice_native_device native{};
  native.struct_size = sizeof native;
  native.context = context;
  native.device = device;
  return drivers::wrap(ARROW_DEVICE_ONEAPI, id, native);
}

void* locate(int64_t id, const void* buffer) { return drivers::locate(ARROW_DEVICE_ONEAPI, id, buffer); }

}  // namespace level_zero
