// SPDX-License-Identifier: Apache-2.0
#include "machine/violation.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace standin {

void violation(const char* pattern, ...) {
  std::fputs("driver stand-in: ", stderr);
  va_list arguments;
  va_start(arguments, pattern);
  std::vfprintf(stderr, pattern, arguments);
  va_end(arguments);
  std::fputs("\n", stderr);
  std::fflush(stderr);
  std::abort();
}

}  // namespace standin
