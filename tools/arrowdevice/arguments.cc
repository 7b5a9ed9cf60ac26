// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <algorithm>
#include <charconv>

#include "suggestion.h"

namespace arrowdevice::tool {
namespace {

const Option* find(const Command& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [&](const Option& option) {
    return option.name == name || (option.letter != 0 && name == std::string{'-', option.letter});
  });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(std::span<const Option> options) {
  std::vector<std::string> names{"--help"};
  for (const Option& option : options) names.emplace_back(option.name);
  return names;
}

}  // namespace

Arguments::Arguments(const Command& command, const std::vector<std::string>& words) : command_(command) {
  bool only_operands = false;
  for (const std::string& word : words) {
    if (only_operands || !word.starts_with('-')) {
      add_operand(word);
    } else if (word == "--") {
      only_operands = true;
    } else {
      add_option(word);
    }
  }
}

void Arguments::add_option(const std::string& word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const Option* const option = find(command_, name);
  if (option == nullptr) {
    throw error("there is no option \"" + name + "\"" + suggestion(name, names_of(command_.options)));
  }
  if (option->value.empty() && equals != word.npos) throw error(name + " takes no value");
  if (!option->value.empty() && equals == word.npos) {
    throw error(name + " needs a value: " + name + "=" + std::string(option->value));
  }
  options_.emplace_back(option->name, equals == word.npos ? "" : word.substr(equals + 1));
}

void Arguments::add_operand(const std::string& word) {
  if (word.empty()) throw error("an argument is empty");
  if (operands_.size() == command_.most_operands) {
    throw error("unexpected argument \"" + word + "\" (expected at most " + std::to_string(command_.most_operands) +
                ")");
  }
  operands_.push_back(word);
}

bool Arguments::has(std::string_view option) const {
  return std::ranges::any_of(options_, [&](const auto& given) { return given.first == option; });
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> found;
  for (const auto& [name, value] : options_) {
    if (name == option) found.push_back(value);
  }
  return found;
}

int64_t Arguments::number(std::string_view option, int64_t least, int64_t most, int64_t otherwise) const {
  const auto given = values(option);
  if (given.empty()) return otherwise;
  const std::string& text = given.back();
  int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    throw error("invalid " + std::string(option) + "=" + text + " (expected " + std::to_string(least) + " to " +
                std::to_string(most) + ")");
  }
  return number;
}

UsageError Arguments::error(const std::string& message) const {
  return UsageError(std::string(command_.name) + ": " + message);
}

}  // namespace arrowdevice::tool
