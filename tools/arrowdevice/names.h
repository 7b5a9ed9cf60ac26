// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

namespace arrowdevice::tool {

// "cuda", or the number of a type without a name.
std::string type_of(const arrowdevice_device_info& info);

// "cuda:1", as other programs call the device.
std::string name_of(const arrowdevice_device_info& info);

}  // namespace arrowdevice::tool
