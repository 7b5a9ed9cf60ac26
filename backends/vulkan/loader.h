// SPDX-License-Identifier: Apache-2.0
// The Vulkan loader, opened at first use.
#pragma once

#include <string>

#include "vulkan/functions.h"

namespace arrowdevice::vulkan {

// Opens `library`, or the system's loader if `library` is empty, and never closes it. Throws ENODEV if there is no
// loader.
GlobalFunctions open_loader(const std::string& library);

}  // namespace arrowdevice::vulkan
