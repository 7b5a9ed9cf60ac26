// SPDX-License-Identifier: Apache-2.0
// What a stand-in does about a call that breaks the rules: it ends the process, so that no test passes over it.
#pragma once

namespace standin {

// Says which rule was broken, and aborts.
[[noreturn, gnu::format(printf, 1, 2)]] void violation(const char* pattern, ...);

}  // namespace standin
