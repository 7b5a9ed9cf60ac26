// SPDX-License-Identifier: Apache-2.0
#include "names.h"

namespace arrowdevice::tool {

std::string type_of(const arrowdevice_device_info& info) {
  const char* name = arrowdevice_device_type_get_name(info.device_type);
  return name == nullptr ? std::to_string(info.device_type) : name;
}

std::string name_of(const arrowdevice_device_info& info) {
  return type_of(info) + ":" + std::to_string(info.device_id);
}

}  // namespace arrowdevice::tool
