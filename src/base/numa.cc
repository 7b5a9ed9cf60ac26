// SPDX-License-Identifier: Apache-2.0
#include "base/numa.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>

namespace arrowdevice::numa {
namespace {

// Returns the first line of a file, which is empty if the file cannot be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Removes a number from the front of the text. Returns nullopt if the text begins with something else.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char character) {
  if (!text.starts_with(character)) return false;
  text.remove_prefix(1);
  return true;
}

bool is_of_pci_id(char character) {
  constexpr std::string_view kCharacters = "0123456789abcdef:.";
  return kCharacters.find(character) != std::string_view::npos;
}

}  // namespace

int node_of(std::string_view pci_id, const std::string& sysfs) {
  // Drivers write upper case, and sysfs has lower case.
  std::string id(pci_id);
  std::ranges::transform(id, id.begin(), [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c; });
  if (id.empty() || !std::ranges::all_of(id, is_of_pci_id)) return -1;
  const std::string line = first_line(sysfs + "/bus/pci/devices/" + id + "/numa_node");
  std::string_view text = line;
  return std::max(take_number(text).value_or(-1), -1);
}

// The list of a node is like "0-3,8". The list of a node without processors is empty.
cpu_set_t processors_of(int node, const std::string& sysfs) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  const std::string line = first_line(sysfs + "/devices/system/node/node" + std::to_string(node) + "/cpulist");
  std::string_view text = line;
  do {
    const auto first = take_number(text);
    const auto last = take(text, '-') ? take_number(text) : first;
    if (!first || !last || *first < 0) break;
    for (int cpu = *first; cpu <= std::min(*last, CPU_SETSIZE - 1); ++cpu)
      CPU_SET(static_cast<size_t>(cpu), &processors);
  } while (take(text, ','));
  return processors;
}

}  // namespace arrowdevice::numa
