// SPDX-License-Identifier: Apache-2.0
// Disguises Lavapipe as a discrete GPU if ARROWDEVICE_TEST_VULKAN_DISGUISE=discrete. The disguise has the type of a
// discrete GPU, a second queue family for transfers only, device-local memory that is not host-visible and contains no
// zeros at first, and cached host memory that is not coherent. Both families share the only queue.
// The program ends if a call does something that such a GPU forbids:
//
// - setting an event on the transfer family
// - mapping device-local memory
// - using a buffer that both families do not share
#pragma once

#include "vulkan/functions.h"

namespace discrete {

// Returns the function to call instead of the driver's `real`, or `real` if no disguise is needed.
PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real);

}  // namespace discrete
