// SPDX-License-Identifier: Apache-2.0
#include "help.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace arrowdevice::tool {
namespace {

std::string option_text(const Option& option) {
  std::string text = option.letter != 0 ? std::string{'-', option.letter} + ", " : "";
  text += option.name;
  return option.value.empty() ? text : text + "=" + std::string(option.value);
}

// Prints rows of two columns. The second column may have several lines.
void print_rows(std::FILE* to, const std::vector<std::pair<std::string, std::string_view>>& rows) {
  size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  for (auto [name, text] : rows) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      std::fprintf(to, "  %-*s  %.*s\n", static_cast<int>(width), name.c_str(), static_cast<int>(line.size()),
                   line.data());
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      name.clear();
    }
  }
}

}  // namespace

void print_usage(std::FILE* to) {
  std::fputs("Usage: arrowdevice COMMAND [OPTION...]\n\nCommands:\n", to);
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Command* command : commands()) rows.emplace_back(command->name, command->summary);
  print_rows(to, rows);
  std::fputs("\n", to);
  print_rows(to, {{"--version", "prints the version of the library"},
                  {"--help", "prints this text; after a command: its help"}});
  std::fputs(
      "\nExit code: 0 success, 1 failure, 2 wrong usage.\n"
      "Output has colours on a terminal, unless NO_COLOR is set.\n",
      to);
}

void print_help(const Command& command) {
  std::printf("Usage: arrowdevice %s %s\n\n%s\n", std::string(command.name).c_str(), std::string(command.usage).c_str(),
              std::string(command.about).c_str());
  std::vector<std::pair<std::string, std::string_view>> rows;
  for (const Option& option : command.options) rows.emplace_back(option_text(option), option.help);
  rows.emplace_back("--help", "prints this text");
  print_rows(stdout, rows);
  std::printf("\nExit code: %s\n", std::string(command.exit_code).c_str());
}

}  // namespace arrowdevice::tool
