// SPDX-License-Identifier: Apache-2.0
// The backend table of Vulkan.
#pragma once

#include <arrowdevice/backend.h>

namespace arrowdevice::vulkan {

const arrowdevice_backend& table();

}  // namespace arrowdevice::vulkan
