// SPDX-License-Identifier: Apache-2.0
// The backend table on top of a driver. Each plugin has one table.
#pragma once

#include <arrowdevice/backend.h>

#include "cuda_like/gpus.h"

namespace arrowdevice::cuda_like {

struct Backend {
  const char* name;
  const char* version;
  std::span<const ArrowDeviceType> device_types;
  Gpus& gpus;
  bool wraps_contexts = false;  // true if the vendor has contexts
};

// Implements the plugin's entry point. `backend` must stay valid until the process ends.
const arrowdevice_backend* enter(const Backend& backend, uint32_t host_abi, arrowdevice_error* error) noexcept;

}  // namespace arrowdevice::cuda_like
