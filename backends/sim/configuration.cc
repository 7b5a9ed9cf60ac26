// SPDX-License-Identifier: Apache-2.0
#include "sim/configuration.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/checked.h"
#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice::sim {
namespace {

[[noreturn]] void refuse(const char* variable, std::string_view word, const char* what) {
  throw Error(EINVAL, std::string(variable) + ": \"" + std::string(word) + "\" " + what);
}

// Removes the text up to `separator` from the front of `rest` and returns it.
std::string_view take_part(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Parses a number that is not negative, with the suffixes k, m and g for powers of 1024.
int64_t parse_amount(const char* variable, std::string_view word) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string_view suffix = word.substr(static_cast<size_t>(end - word.data()));
  const int shift = suffix.empty() ? 0 : suffix == "k" ? 10 : suffix == "m" ? 20 : suffix == "g" ? 30 : -1;
  if (error != std::errc{} || number < 0 || shift < 0) refuse(variable, word, "is not a number like 0, 4096 or 16m");
  return checked_mul(number, int64_t{1} << shift);
}

// One hour. A longer latency could overflow a time point, which counts nanoseconds in 64 bits.
constexpr int64_t kMostLatencyUs = int64_t{60} * 60 * 1'000'000;

int64_t parse_latency(const char* variable, std::string_view word) {
  const int64_t latency_us = parse_amount(variable, word);
  if (latency_us > kMostLatencyUs) {
    refuse(variable, word, format("is more than %lld microseconds", static_cast<long long>(kMostLatencyUs)).c_str());
  }
  return latency_us;
}

int64_t amount_or(const char* variable, int64_t otherwise) {
  const auto word = environment::text(variable);
  return word ? parse_amount(variable, *word) : otherwise;
}

// Parses text such as "handles:memory=64m:bandwidth=1g".
DeviceSettings parse_device(const char* variable, std::string_view word, DeviceSettings settings) {
  std::string_view rest = word;
  const std::string_view kind = take_part(rest, ':');
  if (kind != "addresses" && kind != "handles") {
    refuse(variable, word, "is not a kind of simulated device (expected \"addresses\" or \"handles\")");
  }
  settings.addresses = kind == "addresses";
  while (!rest.empty()) {
    std::string_view value = take_part(rest, ':');
    const std::string_view key = take_part(value, '=');
    if (key == "memory") {
      settings.memory = parse_amount(variable, value);
    } else if (key == "latency_us") {
      settings.latency_us = parse_latency(variable, value);
    } else if (key == "bandwidth") {
      settings.bandwidth = parse_amount(variable, value);
    } else {
      refuse(variable, word, "has settings other than memory, latency_us and bandwidth");
    }
  }
  return settings;
}

std::vector<DeviceSettings> parse_devices() {
  DeviceSettings usual;
  usual.memory = amount_or("ARROWDEVICE_SIM_MEMORY", usual.memory);
  const char* latency = "ARROWDEVICE_SIM_LATENCY_US";
  if (const auto word = environment::text(latency)) usual.latency_us = parse_latency(latency, *word);
  usual.bandwidth = amount_or("ARROWDEVICE_SIM_BANDWIDTH", usual.bandwidth);
  const char* variable = "ARROWDEVICE_SIM_DEVICES";
  std::vector<DeviceSettings> devices;
  for (const std::string& word : environment::list(variable, ',')) {
    devices.push_back(parse_device(variable, word, usual));
  }
  // The library decides if it loads this plugin. A loaded plugin has at least one device.
  if (devices.empty()) devices.push_back(usual);
  return devices;
}

Peers parse_peers() {
  const char* variable = "ARROWDEVICE_SIM_PEERS";
  const std::string word = environment::text(variable).value_or("all");
  if (word == "all") return Peers::kCopy;
  if (word == "none") return Peers::kNone;
  if (word == "access") return Peers::kAccess;
  refuse(variable, word, "is none of \"all\", \"none\" and \"access\"");
}

std::vector<Function> parse_without() {
  const char* variable = "ARROWDEVICE_SIM_WITHOUT";
  std::vector<Function> without;
  for (const std::string& word : environment::list(variable, ',')) {
    const auto function = function_named(word);
    if (!function || !is_optional(*function))
      refuse(variable, word, "is not an optional function of the backend table");
    without.push_back(*function);
  }
  return without;
}

// Parses text such as "queue_copy", "queue_copy:2" or "queue_copy:2+".
PlannedFailure parse_failure(const char* variable, std::string_view word) {
  std::string_view rest = word;
  const std::string_view name = take_part(rest, ':');
  const auto function = function_named(name);
  if (!function) refuse(variable, word, "is not a function of the backend table, and not \"event\" or \"lost\"");
  if (!can_fail(*function)) refuse(variable, word, "names a function that has no way to fail");
  PlannedFailure failure{.function = *function};
  if (rest.ends_with('+')) {
    failure.onwards = true;
    rest.remove_suffix(1);
  }
  if (!rest.empty()) failure.call = parse_amount(variable, rest);
  if (failure.call < 1) refuse(variable, word, "counts from 1");
  return failure;
}

std::vector<PlannedFailure> parse_failures() {
  const char* variable = "ARROWDEVICE_SIM_FAIL";
  std::vector<PlannedFailure> failures;
  for (const std::string& word : environment::list(variable, ',')) failures.push_back(parse_failure(variable, word));
  return failures;
}

std::string parse_statistics_file() {
  const char* variable = "ARROWDEVICE_SIM_STATS";
  std::string path = environment::text(variable).value_or("");
  if (!path.empty() && path[0] != '/') refuse(variable, path, "is not an absolute path");
  return path;
}

}  // namespace

Configuration Configuration::from_environment() {
  return {.devices = parse_devices(),
          .peers = parse_peers(),
          .without = parse_without(),
          .failures = parse_failures(),
          .statistics_file = parse_statistics_file()};
}

}  // namespace arrowdevice::sim
