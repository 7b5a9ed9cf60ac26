// SPDX-License-Identifier: Apache-2.0
// A stand-in ends the process if a call breaks the rules, so that no test passes in spite of it.
#pragma once

namespace standin {

// Prints the broken rule and aborts.
[[noreturn, gnu::format(printf, 1, 2)]] void violation(const char* pattern, ...);

}  // namespace standin
