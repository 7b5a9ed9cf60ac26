// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace arrowdevice::tool {

// Returns the text as a JSON string with quotes. Invalid UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

}  // namespace arrowdevice::tool
