// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "sim/file_size.h"

namespace arrowdevice::sim {
namespace {

std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') json += '\\';
    if (static_cast<unsigned char>(character) < 0x20) {
      json += format("\\u%04x", static_cast<unsigned>(character));
    } else {
      json += character;
    }
  }
  return json + "\"";
}

// The path of the statistics at exit, and the process that writes them. A forked child inherits the path but must not
// write.
struct StatisticsFile {
  std::string path;
  pid_t process = 0;
};

StatisticsFile& statistics_file() {
  static auto& file = *new StatisticsFile;
  return file;
}

void write_statistics() {
  const StatisticsFile& file = statistics_file();
  if (file.path.empty() || file.process != ::getpid()) return;
  const std::string text = simulation().statistics();
  const FileSizeErrors errors;  // for a file that reaches a size limit
  if (std::FILE* stream = std::fopen(file.path.c_str(), "we")) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fclose(stream);
  }
}

}  // namespace

void Simulation::configure(Configuration configuration) {
  if (!configuration.statistics_file.empty()) {
    [[maybe_unused]] static const int registered = std::atexit(write_statistics);
  }
  statistics_file() = {.path = configuration.statistics_file, .process = ::getpid()};
  devices.configure(configuration);
  failures.reset(configuration.failures);
  refusals.reset();
  const std::lock_guard lock(mutex_);
  configuration_ = std::move(configuration);
}

bool Simulation::has(Function function) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(configuration_.without, function) == configuration_.without.end();
}

std::string Simulation::statistics() const {
  std::string json = "{\n  \"backend\": \"sim\",\n  \"calls\": {";
  for (int i = 0; i < kFunctions; ++i) {
    const auto function = static_cast<Function>(i);
    if (function == Function::event || function == Function::lost) continue;
    json += (i == 0 ? "\n    " : ",\n    ") + json_string(name_of(function)) + ": ";
    json += std::to_string(failures.calls(function));
  }
  json += "\n  },\n  \"failures_injected\": " + std::to_string(failures.injected());
  json += ",\n  \"refused\": " + std::to_string(refusals.count()) + ",\n  \"refusals\": [";
  const char* separator = "\n    ";
  for (const std::string& message : refusals.messages()) {
    json += separator + json_string(message);
    separator = ",\n    ";
  }
  json += "],\n  \"devices\": [";
  separator = "\n    {\n";
  for (const auto& [handle, device] : devices.all()) {
    json += separator + std::string("      \"id\": ") + std::to_string(device->id());
    json += ",\n      \"name\": " + json_string(device->name()) + ",\n";
    json += to_json(device->statistics().snapshot(), "      ") + "\n    }";
    separator = ",\n    {\n";
  }
  return json + "]\n}\n";
}

Simulation& simulation() {
  static auto& instance = *new Simulation;
  return instance;
}

}  // namespace arrowdevice::sim
