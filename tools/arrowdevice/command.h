// SPDX-License-Identifier: Apache-2.0
// The commands of the tool. Each takes the arguments after its name and returns the exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace arrowdevice::tool {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// An invalid command line. The message goes to standard error, and the exit code is kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

int list(const std::vector<std::string>& arguments);
int bench(const std::vector<std::string>& arguments);
int check(const std::vector<std::string>& arguments);
int explain(const std::vector<std::string>& arguments);

}  // namespace arrowdevice::tool
