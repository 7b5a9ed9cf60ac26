// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

namespace arrowdevice::tool {

// Returns a name such as "cuda", or the number of a type without a name.
std::string type_of(const arrowdevice_device_info& info);

// Returns a name such as "cuda:1", which other programs use for the device.
std::string name_of(const arrowdevice_device_info& info);

}  // namespace arrowdevice::tool
