// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

#include "command.h"

namespace arrowdevice::tool {

// Prints the commands.
void print_usage(std::FILE* to);

// Prints the help of a command to standard output.
void print_help(const Command& command);

}  // namespace arrowdevice::tool
