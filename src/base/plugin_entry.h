// SPDX-License-Identifier: Apache-2.0
// The common entry code of the plugins of this project.
#pragma once

#include <arrowdevice/backend.h>

#include <cerrno>

#include "base/error.h"

namespace arrowdevice {

// Returns the table that `make_table` gives a reference to. Returns NULL, with the reason in `error`, if that throws or
// the library has another version. `backend` is the name for messages.
template <typename MakeTable>
const arrowdevice_backend* enter_plugin(const char* backend, uint32_t host_abi, arrowdevice_error* error,
                                        const MakeTable& make_table) noexcept {
  const arrowdevice_backend* table = nullptr;
  guarded(error, [&] {
    if (host_abi != ARROWDEVICE_BACKEND_ABI_VERSION) {
      throw Error(ENOTSUP, format("the library speaks version %u of the backend table, the %s backend %u", host_abi,
                                  backend, ARROWDEVICE_BACKEND_ABI_VERSION));
    }
    table = &make_table();
  });
  return table;
}

}  // namespace arrowdevice
