// SPDX-License-Identifier: Apache-2.0
// Measures how the time of a copy grows with its bytes, devices and threads. The results are curves without bounds.
// bench/peers.cc has the curve over the number of columns.
//
//   meson devenv -C build bench/bench-scale
#include <benchmark/benchmark.h>
#include <arrowdevice/arrowdevice.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch.h"
#include "calls.h"
#include "plain_copies.h"
#include "ratio.h"

namespace arrowdevice::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kRows = 100;
constexpr int kDevices = 16;
constexpr int64_t kLatencyMicroseconds = 1'000;  // for each copy to a simulated device
constexpr int64_t kCopies = 200;

void copy_and_release(const Batch& batch, arrowdevice_device* to) {
  ArrowDeviceArray out{};
  must(arrowdevice_array_copy, &batch.array(), &batch.schema(), to, nullptr, &out);
  arrowdevice_array_release(&out);
}

// Compares a copy of one column with `memcpy` to touched memory.
void copy_on_the_cpu(benchmark::State& state) {
  const Batch batch(1, state.range(0) / int64_t{sizeof(int64_t)});
  AlignedVector<char> touched = touched_memory(batch.buffers());
  arrowdevice_device* const cpu = device("cpu");
  compare(
      state, std::nullopt, [&] { copy_and_release(batch, cpu); }, [&] { copy_plainly(batch.buffers(), touched); });
}

// Copies to slow simulated devices with several threads. Each thread has its own device, or all share one. Reports how
// many times faster the threads are together than one thread that makes all copies.
void copy_by_threads(benchmark::State& state, bool share_a_device) {
  const auto threads = static_cast<int64_t>(state.range(0));
  const Batch batch(8, kRows);
  const auto copy_all = [&](int64_t by) {
    std::atomic<int64_t> left{kCopies};
    const auto body = [&](int64_t thread) {
      arrowdevice_device* const to = device(("ext_dev:" + std::to_string(share_a_device ? 0 : thread)).c_str());
      while (left.fetch_sub(1) > 0) copy_and_release(batch, to);
    };
    const auto start = Clock::now();
    std::vector<std::thread> others;
    for (int64_t i = 1; i < by; ++i) others.emplace_back(body, i);
    body(0);
    for (auto& other : others) other.join();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  copy_all(threads);  // opens the devices
  const double alone = copy_all(1);
  for (auto _ : state) state.SetIterationTime(copy_all(threads));
  const double together = copy_all(threads);
  state.counters["times_faster"] = alone / together;
}

// Functions with these names hide the structs.
using Counters = struct arrowdevice_device_counters;

Counters counters_of(const arrowdevice_device* on) {
  Counters counters{};
  counters.struct_size = sizeof counters;
  must(arrowdevice_device_get_counters, on, &counters);
  return counters;
}

// Counts the driver calls of a copy from a cold pool. The CPU's own allocations are included.
template <typename Arrays>
void count_calls(benchmark::State& state, const char* from, const char* to, const Arrays& arrays, int64_t last_rows) {
  arrowdevice_device* const source = device(from);
  arrowdevice_device* const target = device(to);
  ArrowDeviceArray there{};
  must(arrowdevice_array_copy, &arrays.array(), &arrays.schema(), source, nullptr, &there);
  if (last_rows > 0) {
    ArrowDeviceArray part{};
    must(arrowdevice_array_slice, &there, &arrays.schema(), there.array.length - last_rows, last_rows, &part);
    arrowdevice_array_release(&there);
    there = part;
  }
  int64_t allocations = 0, submissions = 0, readbacks = 0;
  for (auto _ : state) {
    ArrowDeviceArray out{};
    must(arrowdevice_array_copy, &there, &arrays.schema(), target, nullptr, &out);
    arrowdevice_array_release(&out);  // the device has a queue from here on
    must(arrowdevice_pool_trim, pool(target));
    const Counters source_before = counters_of(source), target_before = counters_of(target);
    must(arrowdevice_array_copy, &there, &arrays.schema(), target, nullptr, &out);
    const Counters source_after = counters_of(source), target_after = counters_of(target);
    allocations = target_after.driver_allocations - target_before.driver_allocations;
    readbacks = source_after.readbacks - source_before.readbacks;
    submissions = target_after.submissions - target_before.submissions;
    if (source != target) submissions += source_after.submissions - source_before.submissions;
    arrowdevice_array_release(&out);
  }
  arrowdevice_array_release(&there);
  state.counters["allocations"] = static_cast<double>(allocations);
  state.counters["copies"] = static_cast<double>(submissions - readbacks);
  state.counters["readbacks"] = static_cast<double>(readbacks);
}

void register_calls() {
  static constexpr std::pair<const char*, const char*> kTrips[] = {
      {"cpu", "ext_dev:0"}, {"ext_dev:0", "cpu"}, {"ext_dev:0", "ext_dev:1"}};
  const auto add = [](const std::string& what, auto run) {
    for (const auto& [from, to] : kTrips) {
      const std::string name = "calls, " + what + ", " + from + " to " + to;
      benchmark::RegisterBenchmark(name.c_str(), [source = from, target = to, run](benchmark::State& state) {
        run(state, source, target);
      })->Iterations(1);
    }
  };
  add("8 x 1000 int64", [](benchmark::State& state, const char* from, const char* to) {
    count_calls(state, from, to, Batch(8, 1'000), 0);
  });
  add("1000 utf8",
      [](benchmark::State& state, const char* from, const char* to) { count_calls(state, from, to, Texts(1'000), 0); });
  add("the last 10 of 1000 utf8", [](benchmark::State& state, const char* from, const char* to) {
    count_calls(state, from, to, Texts(1'000), 10);
  });
}

// Makes arrays that stay alive, and then releases them. Reports the time of both for each array, and how many times as
// long that is as for a few arrays.
void make_many_arrays(benchmark::State& state) {
  const Batch batch(1, 1);
  arrowdevice_device* const cpu = device("cpu");
  const auto seconds_each = [&](int64_t arrays) {
    std::vector<ArrowDeviceArray> alive(static_cast<size_t>(arrays));
    const auto start = Clock::now();
    for (auto& array : alive) {
      must(arrowdevice_array_copy, &batch.array(), &batch.schema(), cpu, nullptr, &array);
    }
    for (auto& array : alive) arrowdevice_array_release(&array);
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(arrays);
  };
  constexpr int64_t kFew = 1'000;
  seconds_each(kFew);
  double few = 0, many = 0;
  for (auto _ : state) {
    few = seconds_each(kFew);
    many = seconds_each(state.range(0));
    state.SetIterationTime(many);
  }
  constexpr double kMicroseconds = 1e6;
  state.counters["us_each"] = many * kMicroseconds;
  state.counters["times_longer"] = many / few;
}

void register_all() {
  register_calls();
  benchmark::RegisterBenchmark("live arrays", make_many_arrays)
      ->ArgName("arrays")
      ->RangeMultiplier(10)
      ->Range(1'000, 1'000'000)
      ->Iterations(3)
      ->UseManualTime();
  auto* bytes = benchmark::RegisterBenchmark("bytes", copy_on_the_cpu);
  bytes->ArgName("bytes")->RangeMultiplier(8)->Range(8, int64_t{4} << 30)->UseManualTime();
  for (const bool share : {false, true}) {
    auto* threads = benchmark::RegisterBenchmark(share ? "threads with one device" : "threads with a device each",
                                                 [share](benchmark::State& state) { copy_by_threads(state, share); });
    threads->ArgName("threads")->RangeMultiplier(2)->Range(1, kDevices)->Iterations(1)->UseManualTime();
  }
}

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;  // NOLINT: this is their program
  std::string devices;
  for (int i = 0; i < kDevices; ++i) {
    devices += (i == 0 ? "addresses:latency_us=" : ",addresses:latency_us=") + std::to_string(kLatencyMicroseconds);
  }
  setenv("ARROWDEVICE_SIM_DEVICES", devices.c_str(), 1);
  benchmark::Initialize(&argc, argv);
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
