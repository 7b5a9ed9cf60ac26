// SPDX-License-Identifier: Apache-2.0
// Compares copies on the CPU with `memcpy` of the same bytes to touched memory, and measures calls that pass arrays on
// without a copy. bench/peers.cc has the cases that other libraries can do too. Run it from the build folder:
//
//   meson devenv -C build bench/bench-host
#include <arrowdevice/arrowdevice.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "batch.h"
#include "calls.h"
#include "plain_copies.h"
#include "ratio.h"

namespace arrowdevice::bench {
namespace {

constexpr int64_t kColumns = 8;
constexpr int64_t kMillion = 1'000'000;

ArrowDeviceArray copy(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  ArrowDeviceArray out{};
  must(arrowdevice_array_copy, &array, &schema, cpu(), nullptr, &out);
  return out;
}

void copy_and_release(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  ArrowDeviceArray there = copy(array, schema);
  arrowdevice_array_release(&there);
}

void check_copy(const Batch& batch) {
  ArrowDeviceArray there = copy(batch.array(), batch.schema());
  const auto bytes = static_cast<size_t>(there.array.length) * sizeof(int64_t);
  for (int64_t i = 0; i < there.array.n_children; ++i) {
    if (std::memcmp(there.array.children[i]->buffers[1], batch.column(i), bytes) == 0) continue;
    std::fprintf(stderr, "bench-host: a copy has other bytes\n");
    std::exit(1);
  }
  arrowdevice_array_release(&there);
}

// Includes the time to return memory to the system, because a cold pool costs that time.
void copy_with_a_cold_pool(const Batch& batch) {
  copy_and_release(batch.array(), batch.schema());
  must(arrowdevice_pool_trim, pool(cpu()));
}

void copy_columns_with_a_cold_pool(benchmark::State& state, double bound) {
  const Batch batch(state.range(0), state.range(1));
  AlignedVector<char> touched = touched_memory(batch.buffers());
  check_copy(batch);
  compare(
      state, bound, [&] { copy_with_a_cold_pool(batch); }, [&] { copy_plainly(batch.buffers(), touched); });
}

// Copies so much that several threads fill memory faster than one thread.
void copy_columns_by_threads(benchmark::State& state, double bound) {
  const Batch batch(state.range(0), state.range(1));
  check_copy(batch);
  compare(
      state, bound, [&] { copy_with_a_cold_pool(batch); }, [&] { copy_plainly_by_threads(batch); });
}

// Copies the last ten rows of a batch.
template <typename Arrays>
void copy_last_rows(benchmark::State& state, const Arrays& arrays) {
  constexpr int64_t kRows = 10;
  ArrowDeviceArray shared = arrays.array();
  ArrowDeviceArray part{};
  must(arrowdevice_array_slice, &shared, &arrays.schema(), shared.array.length - kRows, kRows, &part);
  for (auto _ : state) copy_and_release(part, arrays.schema());
  arrowdevice_array_release(&part);
  arrowdevice_array_release(&shared);
}
void copy_last_rows_of_columns(benchmark::State& state) { copy_last_rows(state, Batch(kColumns, state.range(0))); }
void copy_last_rows_of_texts(benchmark::State& state) { copy_last_rows(state, Texts(state.range(0))); }

void share_and_release(benchmark::State& state) {
  const Batch batch(kColumns, state.range(0));
  ArrowDeviceArray first = batch.array();
  for (auto _ : state) {
    ArrowDeviceArray second{};
    must(arrowdevice_array_share, &first, &second);
    arrowdevice_array_release(&second);
  }
  arrowdevice_array_release(&first);
}

void export_and_release(benchmark::State& state) {
  const Batch batch(state.range(0), 100);
  for (auto _ : state) {
    ArrowArray array = batch.array().array;
    ArrowDeviceArray out{};
    must(arrowdevice_array_export, cpu(), &array, nullptr, &out);
    arrowdevice_array_release(&out);
  }
}

BENCHMARK_CAPTURE(copy_columns_with_a_cold_pool, , 2.0)
    ->ArgNames({"columns", "rows"})
    ->Args({kColumns, kMillion})
    ->UseManualTime();
BENCHMARK_CAPTURE(copy_columns_by_threads, , 1.25)
    ->ArgNames({"columns", "rows"})
    ->Args({kColumns, 16 * kMillion})
    ->UseManualTime();
BENCHMARK(copy_last_rows_of_columns)->ArgName("rows")->Arg(10 * kMillion);
BENCHMARK(copy_last_rows_of_texts)->ArgName("rows")->Arg(kMillion)->Arg(10 * kMillion);
BENCHMARK(share_and_release)->ArgName("rows")->Arg(100)->Arg(kMillion);
BENCHMARK(export_and_release)->ArgName("columns")->Arg(8)->Arg(1'000);

}  // namespace
}  // namespace arrowdevice::bench

BENCHMARK_MAIN();
