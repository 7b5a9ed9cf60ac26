// SPDX-License-Identifier: Apache-2.0
// Suggests words to a shell. The scripts in completion/ call the tool for it, so that they know no names themselves.
#pragma once

#include <string>
#include <vector>

namespace arrowdevice::tool {

// The first word of such calls. The words after it are those of the command line. The last one is incomplete, and may
// be empty.
inline constexpr const char* kComplete = "--complete";

// Prints a line for each suggestion: the word, a tab and a description. Prints nothing if the word is a file or free
// text. Returns the exit code.
int complete_here(const std::vector<std::string>& words);

}  // namespace arrowdevice::tool
