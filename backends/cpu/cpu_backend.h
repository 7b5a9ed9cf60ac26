// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: built into the library, through the same table as any plugin.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice {

const arrowdevice_backend& cpu_backend() noexcept;

}  // namespace arrowdevice
