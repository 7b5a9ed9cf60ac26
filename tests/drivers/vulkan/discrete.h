// SPDX-License-Identifier: Apache-2.0
// Lavapipe disguised as a discrete GPU, where ARROWDEVICE_TEST_VULKAN_DISGUISE=discrete: a second queue family for
// transfers only, device-local memory that the CPU does not see, and host memory that is cached and not coherent. What
// such a GPU does not allow ends the program: setting an event on the transfer family, mapping device-local memory, a
// buffer that is not shared among both families. Both families share the one queue that there is.
#pragma once

#include "vulkan/functions.h"

namespace discrete {

// The function to call instead of the driver's own `real`; `real` itself where there is nothing to disguise.
PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real);

}  // namespace discrete
