// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace arrowdevice::tool {

// Returns ` (did you mean "list"?)` with the candidate that is nearest to a word. Returns an empty string if no
// candidate is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace arrowdevice::tool
