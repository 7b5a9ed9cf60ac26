// SPDX-License-Identifier: Apache-2.0
// Times of the library and of plain driver calls, for the sections of the program `speed`.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/hardware/report.h"

namespace hardware {

constexpr int64_t kKilo = 1'000;
constexpr int64_t kMega = 1'000'000;
constexpr int64_t kGiga = 1'000'000'000;

template <typename Body>
double seconds_of(Body&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns the medians of some runs of each body. The bodies take turns, because the driver is slower at first. The
// first runs do not count.
template <typename... Body>
std::array<double, sizeof...(Body)> medians(Body&&... body) {
  constexpr int kRuns = 5;
  (body(), ...);
  std::array<std::vector<double>, sizeof...(Body)> seconds;
  for (int i = 0; i < kRuns; ++i) {
    size_t next = 0;
    (seconds[next++].push_back(seconds_of(body)), ...);
  }
  std::array<double, sizeof...(Body)> all{};
  for (size_t i = 0; i < all.size(); ++i) {
    std::ranges::sort(seconds[i]);
    all[i] = seconds[i][kRuns / 2];
  }
  return all;
}

// Writes bytes that are never 0, with a prime period, so that no piece of a copy equals its neighbour or fresh memory.
inline void fill(unsigned char* bytes, int64_t size) {
  constexpr int64_t kPeriod = 251;
  for (int64_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(1 + i % kPeriod);
}

inline std::string size_text(int64_t bytes) {
  if (bytes % kGiga == 0) return std::to_string(bytes / kGiga) + " GB";
  if (bytes % kMega == 0) return std::to_string(bytes / kMega) + " MB";
  if (bytes % kKilo == 0) return std::to_string(bytes / kKilo) + " kB";
  return std::to_string(bytes) + " B";
}

// Sections of speed_calls.cc.
void batches(Report& report, int64_t divisor);
void allocation(Report& report, int64_t divisor);

}  // namespace hardware
