// SPDX-License-Identifier: Apache-2.0
// Sets an environment variable until the end of a scope.
#pragma once

#include <cstdlib>

namespace arrowdevice::testing {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

}  // namespace arrowdevice::testing
