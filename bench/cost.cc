// SPDX-License-Identifier: Apache-2.0
// Repeats one call, so that its cost can be counted instead of timed. scripts/costs.py runs this program twice under
// cachegrind and takes the difference. It runs it a third time under callgrind, which records one warm call.
//
//   bench-cost            lists the cases: name, useful number of repetitions, and the bounds on instructions, operator
//                         new calls, locks of a mutex, cache lines of code, and cache lines of data that two threads
//                         share ("-" for no bound), separated by tabs. The last word is "plugin" if a plugin takes
//                         part. Its instructions are not counted, and its threads make locks and lines vary
//   bench-cost CASE N     repeats the case N times, and prints the number of operator new calls per repetition
//   bench-cost CASE shared  makes the call once on each of four threads, and prints the addresses of the functions that
//                         begin and end a measured call
#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allocations.h"
#include "batch.h"

namespace {

// A call with all its data.
using Work = std::function<void()>;

}  // namespace

// scripts/costs.py finds the measured calls by these names.
extern "C" {

[[gnu::noinline]] void bench_cost_measured_calls(const void* work, int64_t times) {
  for (int64_t i = 0; i < times; ++i) (*static_cast<const Work*>(work))();
}

[[gnu::noinline]] void bench_cost_end() { asm volatile(""); }

}  // extern "C"

namespace arrowdevice::bench {
namespace {

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kFewRows = 100;
constexpr int64_t kColumns = 8;
constexpr int64_t kLastRows = 10;
constexpr int64_t kLeastBlock = 512;  // bytes
constexpr int64_t kBlockSizes = 32;

// Error of the thread's last call. It is shared by all calls, so that clearing an error is not counted.
thread_local arrowdevice_error error;

void must(int code) {
  if (code == 0) return;
  std::fprintf(stderr, "bench-cost: %s\n", error.message);
  std::exit(1);
}

arrowdevice_device* cpu() {
  static arrowdevice_device* const found = [] {
    arrowdevice_device* device = nullptr;
    must(arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &device, &error));
    return device;
  }();
  return found;
}

template <typename Arrays>
Work copy(int64_t columns, int64_t rows) {
  return [batch = std::make_shared<Arrays>(columns, rows)] {
    ArrowDeviceArray out{};
    must(arrowdevice_array_copy(&batch->array(), &batch->schema(), cpu(), nullptr, &out, &error));
    arrowdevice_array_release(&out);
  };
}

// The copy to a simulated device has arrived before the call returns.
Work copy_to_device() {
  arrowdevice_device* device = nullptr;
  must(arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 0, &device, &error));
  return [device, batch = std::make_shared<Batch>(kColumns, 1)] {
    ArrowDeviceArray out{};
    must(arrowdevice_array_copy(&batch->array(), &batch->schema(), device, nullptr, &out, &error));
    arrowdevice_array_release(&out);
  };
}

// Copies the last rows of an array.
template <typename Arrays>
Work copy_last_rows(std::shared_ptr<Arrays> arrays) {
  auto part = std::make_shared<ArrowDeviceArray>();
  ArrowDeviceArray whole = arrays->array();
  must(arrowdevice_array_slice(&whole, &arrays->schema(), whole.array.length - kLastRows, kLastRows, part.get(),
                               &error));
  arrowdevice_array_release(&whole);
  return [arrays, part] {
    ArrowDeviceArray out{};
    must(arrowdevice_array_copy(part.get(), &arrays->schema(), cpu(), nullptr, &out, &error));
    arrowdevice_array_release(&out);
  };
}

// Copies of the struct replace a newly created array. The producer's release callback is not part of the library's
// cost.
Work export_and_release(int64_t columns) {
  return [batch = std::make_shared<Batch>(columns, kFewRows)] {
    ArrowArray array = batch->array().array;
    ArrowDeviceArray out{};
    must(arrowdevice_array_export(cpu(), &array, nullptr, &out, &error));
    out.array.release(&out.array);
  };
}

Work import_and_release(int64_t columns) {
  return [batch = std::make_shared<Batch>(columns, kFewRows)] {
    ArrowDeviceArray array = batch->array();
    arrowdevice_view* view = nullptr;
    must(arrowdevice_array_import(&array, &batch->schema(), nullptr, &view, &error));
    arrowdevice_view_release(view);
  };
}

Work release_by_the_producer() {
  return [batch = std::make_shared<Batch>(kColumns, kFewRows)] {
    ArrowArray array = batch->array().array;
    array.release(&array);
  };
}

// An array that already has a shared owner, like every array that was shared once.
template <typename Function>
Work on_shared(int64_t rows, Function function) {
  auto batch = std::make_shared<Batch>(kColumns, rows);
  auto first = std::make_shared<ArrowDeviceArray>(batch->array());
  ArrowDeviceArray second{};
  must(arrowdevice_array_share(first.get(), &second, &error));
  arrowdevice_array_release(&second);
  return [batch, first, function] { function(*first, *batch); };
}

Work share(int64_t rows) {
  return on_shared(rows, [](ArrowDeviceArray& array, const Batch&) {
    ArrowDeviceArray second{};
    must(arrowdevice_array_share(&array, &second, &error));
    arrowdevice_array_release(&second);
  });
}

Work slice(int64_t rows) {
  return on_shared(rows, [rows](ArrowDeviceArray& array, const Batch& batch) {
    ArrowDeviceArray part{};
    must(arrowdevice_array_slice(&array, &batch.schema(), rows / 2, kLastRows, &part, &error));
    arrowdevice_array_release(&part);
  });
}

Work move(int64_t rows) {
  return on_shared(rows, [](ArrowDeviceArray& array, const Batch&) {
    ArrowDeviceArray there{};
    arrowdevice_array_move(&array, &there);
    arrowdevice_array_move(&there, &array);
  });
}

// Allocates a buffer and frees it, in a pool that has other blocks. Half of these are used, and half are cached.
Work allocate_beside(int64_t blocks) {
  arrowdevice_pool* pool = nullptr;
  must(arrowdevice_pool_create(cpu(), nullptr, &pool, &error));
  const auto allocate = [pool](int64_t size) {
    void* buffer = nullptr;
    must(arrowdevice_buffer_allocate(cpu(), pool, nullptr, size, &buffer, &error));
    return buffer;
  };
  std::vector<void*> cached;
  for (int64_t i = 0; i < blocks; ++i) {
    void* const buffer = allocate(kLeastBlock * (1 + i / 2 % kBlockSizes));
    if (i % 2 == 0) cached.push_back(buffer);
  }
  for (void* const buffer : cached) arrowdevice_buffer_free(cpu(), nullptr, buffer);
  return [allocate] { arrowdevice_buffer_free(cpu(), nullptr, allocate(kLeastBlock * kBlockSizes)); };
}

struct Case {
  int64_t times;
  const char* bounds;  // on instructions, operator new calls, locks, cache lines of code, and shared cache lines
  std::function<Work()> make;
};

// The bounds of exports and imports exclude the producer's own release, which has its own case here with 27
// instructions.
const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all = {
      {"copy of the last 10 rows of 8 x 1M int64",
       {100, "2380\t-\t-\t100", [] { return copy_last_rows(std::make_shared<Batch>(kColumns, kMillion)); }}},
      {"copy of the last 10 rows of 8 x 10M int64",
       {100, "2380\t-\t-\t-", [] { return copy_last_rows(std::make_shared<Batch>(kColumns, 10 * kMillion)); }}},
      {"copy of the last 10 rows of 10M utf8",
       {100, "1000\t-\t-\t-", [] { return copy_last_rows(std::make_shared<Texts>(10 * kMillion)); }}},
      {"copy of 8 x 100 int64", {100, "3000\t0\t0\t-\t4", [] { return copy<Batch>(kColumns, kFewRows); }}},
      {"copy of 1000 x 100 int64", {10, "275000\t-\t-\t-", [] { return copy<Batch>(1'000, kFewRows); }}},
      {"copy of 600 varied x 100", {10, "355000\t-\t-\t-", [] { return copy<Varied>(600, kFewRows); }}},
      {"copy of 8 x 1 int64 to a simulated device", {100, "8000\t-\t-\t-\tplugin", copy_to_device}},
      {"release of 8 columns by the producer", {1'000, "-\t0\t-\t-", release_by_the_producer}},
      {"export and release of 8 columns", {1'000, "173\t-\t-\t-", [] { return export_and_release(kColumns); }}},
      {"import and release of 8 columns", {1'000, "2200\t2\t0\t100\t4", [] { return import_and_release(kColumns); }}},
      {"import and release of 108 columns", {100, "20000\t2\t0\t-", [] { return import_and_release(kColumns + 100); }}},
      {"import and release of 1000 columns", {10, "180000\t2\t0\t-", [] { return import_and_release(1'000); }}},
      {"share and release of 8 x 100", {1'000, "-\t1\t-\t-", [] { return share(kFewRows); }}},
      {"share and release of 8 x 1M", {1'000, "-\t1\t-\t-", [] { return share(kMillion); }}},
      {"slice and release of 8 x 100", {1'000, "-\t1\t-\t-", [] { return slice(kFewRows); }}},
      {"slice and release of 8 x 1M", {1'000, "-\t1\t-\t-", [] { return slice(kMillion); }}},
      {"buffer of a pool with 10 others", {1'000, "1600\t2\t4\t-", [] { return allocate_beside(10); }}},
      {"buffer of a pool with 10000 others", {1'000, "1640\t2\t4\t-", [] { return allocate_beside(10'000); }}},
      {"two moves of 8 x 100", {1'000, "-\t0\t-\t-", [] { return move(kFewRows); }}},
  };
  return all;
}

int run(const std::string& name, int64_t times) {
  const auto found = cases().find(name);
  if (found == cases().end()) {
    std::fprintf(stderr, "bench-cost: there is no case \"%s\"\n", name.c_str());
    return 2;
  }
  const Work work = found->second.make();
  constexpr int kWarmUps = 3;
  for (int i = 0; i < kWarmUps; ++i) work();
  const int64_t before = allocations();
  bench_cost_measured_calls(&work, times);
  if (times > 0) std::printf("%lld\n", static_cast<long long>((allocations() - before) / times));
  // Skips the destructors, because they cost the same in every run.
  std::fflush(stdout);
  std::_Exit(0);
}

// Makes the call on several threads in turn. Two threads may share a place of the library by chance.
int run_on_threads(const std::string& name) {
  const Work work = cases().at(name).make();
  constexpr int kThreads = 4;
  constexpr int kWarmUps = 2;
  const volatile int64_t once = 1;  // so that the compiler makes no function of its own for it
  std::atomic<int> turn{0};
  const auto body = [&](int thread) {
    for (int round = 0; round <= kWarmUps; ++round) {
      const int mine = round * kThreads + thread;
      for (int now = turn; now != mine; now = turn) turn.wait(now);
      if (round < kWarmUps) {
        work();
      } else {
        bench_cost_measured_calls(&work, once);
        bench_cost_end();
      }
      turn = mine + 1;
      turn.notify_all();
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < kThreads; ++thread) others.emplace_back(body, thread);
  body(0);
  for (auto& other : others) other.join();
  std::printf("%p %p\n", reinterpret_cast<void*>(bench_cost_measured_calls), reinterpret_cast<void*>(bench_cost_end));
  return 0;
}

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;
  if (argc == 3) {
    return std::string_view(argv[2]) == "shared" ? run_on_threads(argv[1]) : run(argv[1], std::atoll(argv[2]));
  }
  for (const auto& [name, one] : cases()) {
    std::printf("%s\t%lld\t%s\n", name.c_str(), static_cast<long long>(one.times), one.bounds);
  }
  return 0;
}
