// SPDX-License-Identifier: Apache-2.0
// Timeline semaphores whose values do not order earlier device writes, if
// ARROWDEVICE_TEST_VULKAN_UNORDERED=1. This is for the thread sanitizer. Mesa's drivers read the value
// after they drop their lock, which causes this order only now and then. With this layer the sanitizer sees
// it on every run.
#pragma once

#include "vulkan/functions.h"

namespace unordered {

// Returns the function to call instead of the driver's `real`, or `real` if both are the same.
PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real);

}  // namespace unordered
