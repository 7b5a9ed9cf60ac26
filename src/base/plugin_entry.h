// SPDX-License-Identifier: Apache-2.0
// What the entry of every plugin of this project does.
#pragma once

#include <arrowdevice/backend.h>

#include <cerrno>

#include "base/error.h"

namespace arrowdevice {

// The table that `make_table` gives a reference to; NULL with the reason in `error` if that throws, or if the library
// speaks another version. `backend`: as a message calls it.
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
