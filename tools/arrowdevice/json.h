// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace arrowdevice::tool {

// A text as a JSON string, quotes included; what is no UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace arrowdevice::tool
