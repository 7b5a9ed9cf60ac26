// SPDX-License-Identifier: Apache-2.0
// The CPU as a device. It is built into the library and uses the same backend table as a plugin.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice {

const arrowdevice_backend& cpu_backend() noexcept;

}  // namespace arrowdevice
