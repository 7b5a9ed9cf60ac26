// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace arrowdevice::bench {

inline constexpr const char* kMemcpy = "memcpy";
inline constexpr const char* kLibrary = "libarrowdevice";
inline constexpr const char* kNanoarrow = "nanoarrow";
inline constexpr const char* kArrowCpp = "Arrow C++";

// A limit of the library's time, as a multiple of the yardstick's or in microseconds.
struct Bound {
  std::optional<double> ratio = {};
  std::optional<double> microseconds = {};
};

// The medians of a case, for each name above that took part.
struct Result {
  std::string name;
  std::string yardstick;
  Bound bound;
  std::optional<size_t> bytes;  // that a call reads
  std::map<std::string, double> microseconds;

  double ratio() const { return microseconds.at(kLibrary) / microseconds.at(yardstick); }
};

// Prints results, and writes them in the format of Google Benchmark's results.
class Results {
 public:
  void add(Result result);
  void write(const std::string& path, const std::map<std::string, std::string>& versions) const;

 private:
  std::vector<Result> results_;
};

}  // namespace arrowdevice::bench
