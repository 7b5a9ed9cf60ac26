// SPDX-License-Identifier: Apache-2.0
#include "peer_results.h"

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace arrowdevice::bench {
namespace {

// Writes the members of a JSON object. The keys and texts need no escapes.
class Members {
 public:
  explicit Members(std::ostream& to) : to_(to) {}

  template <typename Value>
  Members& add(const std::string& key, const Value& value) {
    to_ << std::exchange(separator_, ", ") << '"' << key << "\": " << value;
    return *this;
  }
  Members& add(const std::string& key, const std::string& text) {
    to_ << std::exchange(separator_, ", ") << '"' << key << "\": \"" << text << '"';
    return *this;
  }

 private:
  std::ostream& to_;
  const char* separator_ = "";
};

template <typename Value>
void write_map(std::ostream& to, const std::map<std::string, Value>& values) {
  to << '{';
  Members members(to);
  for (const auto& [key, value] : values) members.add(key, value);
  to << '}';
}

void write_result(std::ostream& to, const Result& result) {
  to << '{';
  Members members(to);
  members.add("name", result.name)
      .add("real_time", result.microseconds.at(kLibrary))
      .add("time_unit", std::string("us"))
      .add("yardstick", result.yardstick)
      .add("ratio", result.ratio());
  if (result.bound.ratio) members.add("bound", *result.bound.ratio);
  if (result.bound.microseconds) members.add("bound_us", *result.bound.microseconds);
  if (result.bytes) members.add("bytes", *result.bytes);
  to << ", \"peers_us\": ";
  auto peers = result.microseconds;
  peers.erase(kLibrary);
  write_map(to, peers);
  to << '}';
}

}  // namespace

void Results::add(Result result) {
  std::printf("%-52s %12.3f us %6.2f x %-9s ", result.name.c_str(), result.microseconds.at(kLibrary), result.ratio(),
              result.yardstick.c_str());
  for (const auto& [name, microseconds] : result.microseconds) {
    if (name != kLibrary) std::printf(" %s %.3f us", name.c_str(), microseconds);
  }
  std::printf("\n");
  std::fflush(stdout);
  results_.push_back(std::move(result));
}

void Results::write(const std::string& path, const std::map<std::string, std::string>& versions) const {
  std::ofstream file(path);
  file << "{\"versions\": ";
  write_map(file, versions);
  file << ",\n\"benchmarks\": [";
  const char* separator = "\n";
  for (const Result& result : results_) {
    file << std::exchange(separator, ",\n");
    write_result(file, result);
  }
  file << "\n]}\n";
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

}  // namespace arrowdevice::bench
