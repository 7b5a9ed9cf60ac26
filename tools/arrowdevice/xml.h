// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace arrowdevice::tool {

// Returns the text as XML, for an attribute or an element. What XML cannot express becomes U+FFFD.
std::string xml_text(std::string_view text);

// Returns the text as the value of an attribute, with quotes.
std::string xml_string(std::string_view text);

}  // namespace arrowdevice::tool
