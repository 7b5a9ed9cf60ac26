// SPDX-License-Identifier: Apache-2.0
// The plugin's entry point, which is its only exported symbol.
#include "base/plugin_entry.h"
#include "vulkan/devices.h"
#include "vulkan/table.h"

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("Vulkan", host_abi, error, []() -> const arrowdevice_backend& {
    arrowdevice::vulkan::Devices::instance();  // reports an invalid environment at once
    return arrowdevice::vulkan::table();
  });
}
