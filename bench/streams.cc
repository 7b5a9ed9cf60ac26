// SPDX-License-Identifier: Apache-2.0
// Measures streams over simulated devices with a link of a chosen speed. Shows if the producer, the link and the
// consumer work at the same time, and the cost of a batch with very few rows.
//
//   meson devenv -C build bench/bench-streams
//
// `ratio` compares the time of a hundred batches, after the first ten, with the time of the slower of producer and link
// alone. The bound is 1.10.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <arrowdevice/arrowdevice.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "batch.h"
#include "calls.h"

namespace arrowdevice::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kColumns = 8;
constexpr int64_t kRows = 128 << 10;
constexpr int kFilling = 10;  // until the pipeline is full
constexpr int kBatches = 100;
constexpr double kLinkSeconds = 0.020;  // for one batch
constexpr double kBound = 1.10;

// Returns the same batch repeatedly, with a pause before each.
struct Producer {
  ArrowDeviceArray batch;
  const ArrowSchema* schema;
  int64_t left;
  std::chrono::duration<double> pause;

  static Producer& of(ArrowDeviceArrayStream* self) { return *static_cast<Producer*>(self->private_data); }
  static int get_schema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
    return arrowdevice_schema_copy(of(self).schema, out, nullptr);
  }
  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
    auto& producer = of(self);
    *out = ArrowDeviceArray{};
    if (producer.left-- == 0) return 0;
    if (producer.pause.count() > 0) std::this_thread::sleep_for(producer.pause);
    *out = producer.batch;
    out->array.release = [](ArrowArray* array) { array->release = nullptr; };  // the benchmark owns it
    return 0;
  }

  ArrowDeviceArrayStream stream() {
    ArrowDeviceArrayStream made{};
    made.device_type = batch.device_type;
    made.get_schema = get_schema;
    made.get_next = get_next;
    made.get_last_error = [](ArrowDeviceArrayStream*) -> const char* { return nullptr; };
    made.release = [](ArrowDeviceArrayStream* self) { self->release = nullptr; };
    made.private_data = this;
    return made;
  }
};

// Consumes a stream and waits for each batch before the next request. Sets `full` to the time when the first batches
// have arrived.
int64_t consume(ArrowDeviceArrayStream& stream, Clock::time_point* full = nullptr) {
  int64_t batches = 0;
  for (;; ++batches) {
    if (full != nullptr && batches == kFilling) *full = Clock::now();
    ArrowDeviceArray array{};
    must(arrowdevice_stream_get_next, &stream, &array);
    if (array.array.release == nullptr) break;
    must(arrowdevice_array_wait, static_cast<const ArrowDeviceArray*>(&array),
         static_cast<arrowdevice_device*>(nullptr), int64_t{ARROWDEVICE_NO_TIMEOUT});
    arrowdevice_array_release(&array);
  }
  arrowdevice_stream_release(&stream);
  return batches;
}

// Takes the producer's pause in ms, the read-ahead setting of the stream, and its depth.
void overlap(benchmark::State& state, const char* from, const char* to) {
  const Batch batch(kColumns, kRows);
  ArrowDeviceArray source = batch.array();
  ArrowDeviceArray there{};
  if (std::string(from) != "cpu") {
    must(arrowdevice_array_copy, static_cast<const ArrowDeviceArray*>(&batch.array()), &batch.schema(), device(from),
         static_cast<const arrowdevice_copy_options*>(nullptr), &there);
    source = there;
    source.sync_event = nullptr;  // already waited for
  }
  const double pause = static_cast<double>(state.range(0)) / 1000;
  double taken = 0;
  for (auto _ : state) {
    Producer producer{source, &batch.schema(), kFilling + kBatches, std::chrono::duration<double>(pause)};
    auto upstream = producer.stream();
    arrowdevice_stream_options options{};
    options.struct_size = sizeof options;
    options.flags = state.range(1) != 0 ? ARROWDEVICE_STREAM_READ_AHEAD : 0;
    options.depth = static_cast<int32_t>(state.range(2));
    ArrowDeviceArrayStream moved{};
    Clock::time_point start;
    must(arrowdevice_stream_to_device, &upstream, device(to), static_cast<const arrowdevice_stream_options*>(&options),
         &moved);
    consume(moved, &start);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state.SetIterationTime(seconds);
    taken += seconds;
  }
  const double slower = std::max(pause, kLinkSeconds);
  state.counters["ratio"] = taken / static_cast<double>(state.iterations()) / (kBatches * slower);
  // Without a path, the CPU forwards each piece within a millisecond. Other work on the machine decides if it does.
  if (std::string(from) == "cpu") state.counters["bound"] = kBound;
  if (there.array.release != nullptr) arrowdevice_array_release(&there);
}

// Measures small batches over a link with a long latency. The number of batches in flight decides the speed.
void depth(benchmark::State& state, const char* to) {
  const Batch batch(kColumns, 8);
  constexpr int64_t kMany = 300;
  for (auto _ : state) {
    Producer producer{batch.array(), &batch.schema(), kMany, {}};
    auto upstream = producer.stream();
    arrowdevice_stream_options options{};
    options.struct_size = sizeof options;
    options.depth = static_cast<int32_t>(state.range(0));
    ArrowDeviceArrayStream moved{};
    const auto start = Clock::now();
    must(arrowdevice_stream_to_device, &upstream, device(to), static_cast<const arrowdevice_stream_options*>(&options),
         &moved);
    consume(moved);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    state.SetIterationTime(seconds);
    state.counters["batches_per_s"] = kMany / seconds;
  }
}

double resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

enum class Way { kFromHost, kMoveTo, kToHost, kAsync, kAsyncMove };

// Takes the number of batches and the rows of each batch.
void small_batches(benchmark::State& state, Way way) {
  const Batch batch(1, state.range(1));
  const double before = resident_mib();
  const auto start = Clock::now();
  for (auto _ : state) {
    Producer producer{batch.array(), &batch.schema(), state.range(0), {}};
    auto upstream = producer.stream();
    ArrowDeviceArrayStream out{};
    ArrowArrayStream host{};
    ArrowAsyncDeviceStreamHandler* handler = nullptr;
    const arrowdevice_stream_options* const defaults = nullptr;
    const arrowdevice_async_options* const async_defaults = nullptr;
    switch (way) {
      case Way::kFromHost:
        must(arrowdevice_stream_to_host, &upstream, defaults, &host);
        must(arrowdevice_stream_from_host, &host, &out);
        break;
      case Way::kMoveTo: must(arrowdevice_stream_to_device, &upstream, device("ext_dev:2"), defaults, &out); break;
      case Way::kToHost:
        must(arrowdevice_stream_to_device, &upstream, device("ext_dev:2"), defaults, &out);
        must(arrowdevice_stream_to_host, &out, defaults, &host);
        must(arrowdevice_stream_from_host, &host, &out);
        break;
      case Way::kAsync:
        must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, async_defaults, &handler, &out);
        must(arrowdevice_async_produce, &upstream, handler, async_defaults);
        break;
      case Way::kAsyncMove:
        must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_EXT_DEV}, async_defaults, &handler, &out);
        must(arrowdevice_async_to_device, handler, device("ext_dev:2"), async_defaults, &handler);
        must(arrowdevice_async_produce, &upstream, handler, async_defaults);
        break;
    }
    if (consume(out) != state.range(0)) std::abort();
  }
  const std::chrono::duration<double, std::micro> taken = Clock::now() - start;
  state.counters["us_a_batch"] =
      taken.count() / static_cast<double>(state.range(0)) / static_cast<double>(state.iterations());
  state.counters["MiB_more"] = resident_mib() - before;
}

void register_all() {
  for (const auto& [name, from] :
       {std::pair("from the host", "cpu"), std::pair("from a device without a path", "ext_dev:1")}) {
    auto* const made =
        benchmark::RegisterBenchmark((std::string("overlap ") + name).c_str(),
                                     [source = from](benchmark::State& state) { overlap(state, source, "ext_dev:0"); });
    made->ArgNames({"producer_ms", "read_ahead", "depth"})
        ->ArgsProduct({{10, 20, 30}, {0, 1}, {2, 4}})
        ->Iterations(1)
        ->UseManualTime();
    made->Unit(benchmark::kMillisecond);
  }
  for (const auto& [name, to] : {std::pair("latency 1 ms", "ext_dev:3"), std::pair("latency 0.1 ms", "ext_dev:4")}) {
    auto* const made = benchmark::RegisterBenchmark((std::string("depth ") + name).c_str(),
                                                    [target = to](benchmark::State& state) { depth(state, target); });
    made->ArgName("depth")->RangeMultiplier(2)->Range(1, 64)->Iterations(1)->UseManualTime();
  }
  constexpr std::pair<const char*, Way> kWays[] = {{"to the host and from it", Way::kFromHost},
                                                   {"to a device", Way::kMoveTo},
                                                   {"to a device and back", Way::kToHost},
                                                   {"async pair", Way::kAsync},
                                                   {"async pair over a device", Way::kAsyncMove}};
  for (const auto& [name, way] : kWays) {
    auto* const made =
        benchmark::RegisterBenchmark((std::string("small batches ") + name).c_str(),
                                     [chosen = way](benchmark::State& state) { small_batches(state, chosen); });
    made->ArgNames({"batches", "rows"})->ArgsProduct({{10'000, 1'000'000}, {0, 1}})->Iterations(1)->UseRealTime();
    made->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;  // NOLINT: this is their program
  const auto bandwidth = static_cast<int64_t>(kColumns * kRows * 8 / kLinkSeconds);
  const std::string link = "addresses:bandwidth=" + std::to_string(bandwidth);
  setenv("ARROWDEVICE_SIM_DEVICES",
         (link + "," + link + ",addresses,addresses:latency_us=1000,addresses:latency_us=100").c_str(), 1);
  setenv("ARROWDEVICE_SIM_PEERS", "none", 1);
  benchmark::Initialize(&argc, argv);
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
