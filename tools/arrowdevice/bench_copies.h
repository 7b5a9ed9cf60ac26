// SPDX-License-Identifier: Apache-2.0
// Times copies of arrays from one device to another.
#pragma once

#include <arrowdevice/arrowdevice.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace arrowdevice::tool {

struct BenchOptions {
  std::vector<int64_t> sizes;  // bytes
  size_t samples = 0;          // timed copies for each size; 0 means as many as fit into a time
};

struct Place {
  cpp::Device device;
  std::string name;
};

// The result of copies of one size. The times are seconds.
struct Measurement {
  int64_t bytes = 0;
  size_t samples = 0;
  double least = 0;
  double median = 0;
  double most = 0;
  std::string problem = {};  // reason for missing times; empty if all bytes arrived
};

// The results of copies from one device to another, in the order of the sizes.
struct Trip {
  const Place* from;
  const Place* to;
  bool is_direct = false;
  std::vector<Measurement> measurements = {};
};

bool has_failed(const Trip& trip);

inline double gigabytes_a_second(const Measurement& one) { return static_cast<double>(one.bytes) / one.median / 1e9; }

class Bench {
 public:
  explicit Bench(BenchOptions options);
  Bench(const Bench&) = delete;

  // Measures copies of each size. The places must outlive the result.
  Trip measure(const Place& from, const Place& to);

 private:
  const uint8_t* next_bytes();
  void overwrite_cached(const cpp::Device& device, int64_t bytes);
  void verify(const Place& from, const Place& to, int64_t bytes);
  Measurement measure(const Place& from, const Place& to, int64_t bytes);

  const BenchOptions options_;
  std::vector<uint8_t> values_;  // larger than the largest size; the arrays borrow it
  size_t arrays_ = 0;            // number of arrays made
};

}  // namespace arrowdevice::tool
