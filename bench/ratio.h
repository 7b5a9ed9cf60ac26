// SPDX-License-Identifier: Apache-2.0
// Times two paths to the same result in turns in one run, so that other load affects both equally.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

namespace arrowdevice::bench {

// Reports the time of `library` as the benchmark's time. The counters are the medians of both in microseconds, their
// ratio, and the bound of the ratio if there is one.
template <typename Library, typename Raw>
void compare(benchmark::State& state, std::optional<double> bound, Library&& library, Raw&& raw) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](auto&& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto median = [](std::vector<double>& times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  };
  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i) {
    library();
    raw();
  }
  std::vector<double> of_library;
  std::vector<double> of_raw;
  for (auto _ : state) {
    of_raw.push_back(seconds(raw));
    of_library.push_back(seconds(library));
    state.SetIterationTime(of_library.back());
  }
  constexpr double kMicroseconds = 1e6;
  const double library_time = median(of_library);
  const double raw_time = median(of_raw);
  state.counters["library_us"] = library_time * kMicroseconds;
  state.counters["raw_us"] = raw_time * kMicroseconds;
  state.counters["ratio"] = library_time / raw_time;
  if (bound) state.counters["bound"] = *bound;
}

}  // namespace arrowdevice::bench
