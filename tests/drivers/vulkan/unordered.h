// SPDX-License-Identifier: Apache-2.0
// Timeline semaphores whose numbers come in no order with what the device wrote before, where
// ARROWDEVICE_TEST_VULKAN_UNORDERED=1: for the thread sanitizer, which then sees on every run what a driver does now
// and then that reads the number after it has let go of its lock, as Mesa's do.
#pragma once

#include "vulkan/functions.h"

namespace unordered {

// The function to call instead of the driver's own `real`; `real` itself where that is the same.
PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real);

}  // namespace unordered
