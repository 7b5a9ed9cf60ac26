// SPDX-License-Identifier: Apache-2.0
#include "complete.h"

#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "command.h"
#include "names.h"
#include "terminal.h"
#include "type_states.h"

namespace arrowdevice::tool {
namespace {

using Suggestions = std::map<std::string, std::string>;  // words and their descriptions

Suggestions commands_and_options() {
  Suggestions found{{"--help", "prints the commands"}, {"--version", "prints the version of the library"}};
  for (const Command* command : commands()) found.emplace(command->name, command->summary);
  return found;
}

Suggestions options_of(const Command& command) {
  Suggestions found{{"--help", "prints the help of the command"}};
  for (const Option& option : command.options) {
    const std::string name(option.name);
    found.emplace(option.value.empty() ? name : name + "=", option.help.substr(0, option.help.find('\n')));
  }
  return found;
}

Suggestions devices() {
  Suggestions found;
  for (const cpp::Device& device : cpp::Device::list()) {
    const auto info = device.info();
    found.emplace(name_of(info), printable(info.name));
  }
  return found;
}

// Returns device types, devices and backends.
Suggestions names() {
  Suggestions found = devices();
  for (const auto& report : cpp::backend_reports()) {
    if (report.name[0] != '\0') found.emplace(printable(report.name), "backend");
  }
  for (const ArrowDeviceType type : named_types()) found[arrowdevice_device_type_get_name(type)] = "device type";
  return found;
}

// Returns the number of operands, the incomplete one included.
int64_t operands_of(const std::vector<std::string>& words) {
  return std::ranges::count_if(words.begin() + 1, words.end(),
                               [](const std::string& word) { return !word.starts_with('-'); });
}

Suggestions suggestions(const std::vector<std::string>& words) {
  if (words.size() < 2) return commands_and_options();
  const auto command = std::ranges::find_if(commands(), [&](const Command* one) { return one->name == words.front(); });
  if (command == commands().end()) return {};
  const bool only_operands = std::find(words.begin(), words.end() - 1, "--") != words.end() - 1;
  if (!only_operands && words.back().starts_with('-')) return options_of(**command);
  switch ((*command)->operands) {
    case Words::kDevices: return devices();
    case Words::kNames: return names();
    case Words::kFileAndDevice: return operands_of(words) == 1 ? Suggestions{} : devices();
    case Words::kNone: break;
  }
  return {};
}

}  // namespace

int complete_here(const std::vector<std::string>& words) {
  const std::string incomplete = words.empty() ? "" : words.back();
  for (const auto& [word, description] : suggestions(words)) {
    if (word.starts_with(incomplete)) std::printf("%s\t%s\n", word.c_str(), description.c_str());
  }
  return kSuccess;
}

}  // namespace arrowdevice::tool
