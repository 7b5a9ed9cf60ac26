// SPDX-License-Identifier: Apache-2.0
#include "turns.h"

#include <algorithm>
#include <chrono>

#include "caches.h"

namespace arrowdevice::bench {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double time(const Work& work, int calls = 1) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) work();
  return since(start) / calls;
}

// Returns the size of a group of calls.
int calls_at_once(const Work& work) {
  constexpr double kLeastSeconds = 20e-6;
  work();
  return 1 + static_cast<int>(kLeastSeconds / std::max(time(work), 1e-9));
}

double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Calls `measure` with the number of each work in each turn. The order is always the same, because a work's time
// depends on the data that the previous one left in the caches.
template <typename Measure>
std::vector<double> medians(size_t works, const Effort& effort, Measure&& measure) {
  constexpr size_t kMostTurns = 20'000;
  std::vector<std::vector<double>> times(works);
  const auto start = Clock::now();
  for (size_t turn = 0; turn < effort.least_turns || (turn < kMostTurns && since(start) < effort.seconds); ++turn) {
    for (size_t i = 0; i < works; ++i) times[i].push_back(measure(i));
  }
  std::vector<double> found;
  for (auto& of_work : times) found.push_back(median(of_work));
  return found;
}

}  // namespace

std::vector<double> time_warm(const std::vector<Work>& works, const Effort& effort) {
  std::vector<int> calls;
  for (const Work& work : works) calls.push_back(calls_at_once(work));
  return medians(works.size(), effort, [&](size_t i) { return time(works[i], calls[i]); });
}

std::vector<double> time_cold(const std::vector<Work>& works, const Effort& effort) {
  static CacheEviction caches;
  const Work nothing = [] {};
  for (const Work& work : works) work();
  return medians(works.size(), effort, [&](size_t i) {
    caches.run();
    time(nothing);  // loads the code that measures, which is not part of the work
    return time(works[i]);
  });
}

}  // namespace arrowdevice::bench
