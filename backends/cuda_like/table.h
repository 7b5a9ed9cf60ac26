// SPDX-License-Identifier: Apache-2.0
// The backend table over a driver. Each plugin has one.
#pragma once

#include <arrowdevice/backend.h>

#include "cuda_like/gpus.h"

namespace arrowdevice::cuda_like {

struct Backend {
  const char* name;
  const char* version;
  std::span<const ArrowDeviceType> device_types;
  Gpus& gpus;
  bool wraps_contexts = false;  // whether the vendor has contexts
};

// The plugin's entry. `backend` stays valid as long as the process.
const arrowdevice_backend* enter(const Backend& backend, uint32_t host_abi, arrowdevice_error* error) noexcept;

}  // namespace arrowdevice::cuda_like
