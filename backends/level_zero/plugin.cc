// SPDX-License-Identifier: Apache-2.0
// The plugin's entry point, which is its only exported symbol.
#include "base/plugin_entry.h"
#include "level_zero/table.h"

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  return arrowdevice::enter_plugin("Level Zero", host_abi, error, arrowdevice::level_zero::table);
}
