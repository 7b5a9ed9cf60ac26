// SPDX-License-Identifier: Apache-2.0
// The entry of the plugin: the one symbol that it exports.
#include <arrowdevice/backend.h>

#include <cerrno>

#include "base/error.h"
#include "level_zero/table.h"

extern "C" __attribute__((visibility("default"))) const arrowdevice_backend* arrowdevice_backend_entry(
    uint32_t host_abi, arrowdevice_error* error) {
  const arrowdevice_backend* table = nullptr;
  arrowdevice::guarded(error, [&] {
    if (host_abi != ARROWDEVICE_BACKEND_ABI_VERSION) {
      throw arrowdevice::Error(
          ENOTSUP, arrowdevice::format("the library speaks version %u of the backend table, the Level Zero backend %u",
                                       host_abi, ARROWDEVICE_BACKEND_ABI_VERSION));
    }
    table = &arrowdevice::level_zero::table();
  });
  return table;
}
