// SPDX-License-Identifier: Apache-2.0
// The commands of the tool. One description of a command serves its parser, its help and the completion in shells.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace arrowdevice::tool {

inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// An invalid command line. The message goes to standard error, and the exit code is kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Arguments;

// The kind of words that a shell suggests for an operand.
enum class Words { kNone, kDevices, kNames, kFileAndDevice };

struct Option {
  std::string_view name;   // "--json"
  std::string_view value;  // placeholder of the value: "FILE"; empty if the option takes no value
  std::string_view help;   // lines without a line break at the end
  char letter = 0;         // 'v' for the short form "-v"
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view usage;  // what follows the name: "[OPTION...] [DEVICE]..."
  std::string_view about;  // paragraphs
  std::span<const Option> options;
  std::string_view exit_code;  // the meaning of each exit code
  Words operands;
  size_t most_operands;
  int (*run)(const Arguments& arguments);  // returns the exit code
};

inline constexpr size_t kAnyNumber = static_cast<size_t>(-1);

// An option of most commands.
inline constexpr Option kJson{"--json", "", "prints one JSON object, for scripts"};

extern const Command kList;
extern const Command kBench;
extern const Command kCopy;
extern const Command kCheck;
extern const Command kExplain;
extern const Command kServe;
extern const Command kFetch;

// Returns all commands, in the order of the help.
std::span<const Command* const> commands();

}  // namespace arrowdevice::tool
