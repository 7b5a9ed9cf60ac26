// SPDX-License-Identifier: Apache-2.0
// Parses the words after the name of a command: options, their values, and operands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"

namespace arrowdevice::tool {

class Arguments {
 public:
  // Throws UsageError if the words do not fit the command.
  Arguments(const Command& command, const std::vector<std::string>& words);

  bool has(std::string_view option) const;

  // Returns the values of an option, in their order.
  std::vector<std::string> values(std::string_view option) const;

  // Returns the last value of an option as a number. Returns `otherwise` if the option is absent. Throws UsageError for
  // a value that is no number from `least` to `most`.
  int64_t number(std::string_view option, int64_t least, int64_t most, int64_t otherwise) const;

  const std::vector<std::string>& operands() const { return operands_; }

  // Returns an error with the name of the command.
  UsageError error(const std::string& message) const;

 private:
  void add_option(const std::string& word);
  void add_operand(const std::string& word);

  const Command& command_;
  std::vector<std::pair<std::string_view, std::string>> options_;  // names and values
  std::vector<std::string> operands_;
};

}  // namespace arrowdevice::tool
