// SPDX-License-Identifier: Apache-2.0
// Compares copies on the CPU with `memcpy` of the same bytes to touched memory, and measures calls that pass arrays on
// without a copy. Run it from the build folder:
//
//   meson devenv -C build bench/bench-host
#include <sys/mman.h>
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "batch.h"
#include "ratio.h"

namespace arrowdevice::bench {
namespace {

constexpr int64_t kColumns = 8;
constexpr int64_t kMillion = 1'000'000;

void must(int code, const arrowdevice_error& error) {
  if (code == 0) return;
  std::fprintf(stderr, "bench-host: %s\n", error.message);
  std::exit(1);
}

arrowdevice_device* cpu() {
  arrowdevice_device* found = nullptr;
  arrowdevice_error error{};
  must(arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &found, &error), error);
  return found;
}

arrowdevice_pool* pool() {
  arrowdevice_pool* found = nullptr;
  arrowdevice_error error{};
  must(arrowdevice_device_get_pool(cpu(), &found, &error), error);
  return found;
}

ArrowDeviceArray copy(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  ArrowDeviceArray out{};
  arrowdevice_error error{};
  must(arrowdevice_array_copy(&array, &schema, cpu(), nullptr, &out, &error), error);
  return out;
}

void copy_and_release(const ArrowDeviceArray& array, const ArrowSchema& schema) {
  ArrowDeviceArray there = copy(array, schema);
  arrowdevice_array_release(&there);
}

void check(bool same) {
  if (same) return;
  std::fprintf(stderr, "bench-host: a copy has other bytes\n");
  std::exit(1);
}

void check_copy(const Batch& batch) {
  ArrowDeviceArray there = copy(batch.array(), batch.schema());
  const auto bytes = static_cast<size_t>(there.array.length) * sizeof(int64_t);
  for (int64_t i = 0; i < there.array.n_children; ++i) {
    check(std::memcmp(there.array.children[i]->buffers[1], batch.column(i), bytes) == 0);
  }
  arrowdevice_array_release(&there);
}

// Copies the columns one after the other into contiguous memory.
void copy_plainly(const Batch& batch, AlignedVector<char>& to) {
  const auto columns = static_cast<size_t>(batch.array().array.n_children);
  const size_t bytes = to.size() / columns;
  for (size_t i = 0; i < columns; ++i) {
    std::memcpy(to.data() + i * bytes, batch.column(static_cast<int64_t>(i)), bytes);
    benchmark::ClobberMemory();
  }
}

void copy_columns(benchmark::State& state, double bound) {
  const Batch batch(state.range(0), state.range(1));
  AlignedVector<char> touched(static_cast<size_t>(batch.bytes()), 1);
  check_copy(batch);
  compare(
      state, bound, [&] { copy_and_release(batch.array(), batch.schema()); }, [&] { copy_plainly(batch, touched); });
}

// Includes the time to return memory to the system, because a cold pool costs that time.
void copy_with_a_cold_pool(const Batch& batch) {
  copy_and_release(batch.array(), batch.schema());
  arrowdevice_error error{};
  must(arrowdevice_pool_trim(pool(), &error), error);
}

void copy_columns_with_a_cold_pool(benchmark::State& state, double bound) {
  const Batch batch(state.range(0), state.range(1));
  AlignedVector<char> touched(static_cast<size_t>(batch.bytes()), 1);
  check_copy(batch);
  compare(
      state, bound, [&] { copy_with_a_cold_pool(batch); }, [&] { copy_plainly(batch, touched); });
}

// Fills new memory in huge pages. As many threads as the machine has processors do this, up to eight as in the library.
void copy_plainly_by_threads(const Batch& batch) {
  constexpr size_t kHugePage = size_t{2} << 20;
  constexpr int64_t kPiece = 4 << 20;
  const auto bytes = static_cast<size_t>(batch.bytes());
  const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  const std::unique_ptr<char, decltype(&std::free)> fresh(static_cast<char*>(std::aligned_alloc(kHugePage, whole)),
                                                          &std::free);
  madvise(fresh.get(), whole, MADV_HUGEPAGE);
  const int64_t column_bytes = batch.bytes() / batch.array().array.n_children;
  std::atomic<int64_t> next{0};
  const auto take_pieces = [&] {
    for (int64_t at = next.fetch_add(kPiece); at < batch.bytes(); at = next.fetch_add(kPiece)) {
      const int64_t end = std::min(at + kPiece, batch.bytes());
      for (int64_t from = at; from < end;) {  // across the end of a column
        const int64_t column = from / column_bytes;
        const int64_t size = std::min(end, (column + 1) * column_bytes) - from;
        std::memcpy(fresh.get() + from, static_cast<const char*>(batch.column(column)) + from % column_bytes,
                    static_cast<size_t>(size));
        from += size;
      }
    }
  };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min(8u, std::thread::hardware_concurrency()); ++i) others.emplace_back(take_pieces);
  take_pieces();
  for (auto& other : others) other.join();
  benchmark::ClobberMemory();
}

// Copies so much that several threads fill memory faster than one thread.
void copy_columns_by_threads(benchmark::State& state, double bound) {
  const Batch batch(state.range(0), state.range(1));
  check_copy(batch);
  compare(
      state, bound, [&] { copy_with_a_cold_pool(batch); }, [&] { copy_plainly_by_threads(batch); });
}

void copy_texts(benchmark::State& state, double bound) {
  const Texts texts(state.range(0));
  const size_t offset_bytes = texts.offsets().size() * sizeof(int32_t);
  AlignedVector<char> touched_offsets(offset_bytes, 1);
  AlignedVector<char> touched_bytes(texts.bytes().size(), 1);
  ArrowDeviceArray there = copy(texts.array(), texts.schema());
  check(std::memcmp(there.array.buffers[1], texts.offsets().data(), offset_bytes) == 0);
  check(std::memcmp(there.array.buffers[2], texts.bytes().data(), texts.bytes().size()) == 0);
  arrowdevice_array_release(&there);
  compare(
      state, bound, [&] { copy_and_release(texts.array(), texts.schema()); },
      [&] {
        std::memcpy(touched_offsets.data(), texts.offsets().data(), offset_bytes);
        std::memcpy(touched_bytes.data(), texts.bytes().data(), texts.bytes().size());
        benchmark::ClobberMemory();
      });
}

// Copies the last ten rows of a batch.
template <typename Arrays>
void copy_last_rows(benchmark::State& state, const Arrays& arrays) {
  constexpr int64_t kRows = 10;
  ArrowDeviceArray shared = arrays.array();
  ArrowDeviceArray part{};
  arrowdevice_error error{};
  must(arrowdevice_array_slice(&shared, &arrays.schema(), shared.array.length - kRows, kRows, &part, &error), error);
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
    arrowdevice_error error{};
    must(arrowdevice_array_share(&first, &second, &error), error);
    arrowdevice_array_release(&second);
  }
  arrowdevice_array_release(&first);
}

void export_and_release(benchmark::State& state) {
  const Batch batch(state.range(0), 100);
  for (auto _ : state) {
    ArrowArray array = batch.array().array;
    ArrowDeviceArray out{};
    arrowdevice_error error{};
    must(arrowdevice_array_export(cpu(), &array, nullptr, &out, &error), error);
    arrowdevice_array_release(&out);
  }
}

void import_and_release(benchmark::State& state) {
  const Batch batch(state.range(0), 100);
  for (auto _ : state) {
    ArrowDeviceArray array = batch.array();
    arrowdevice_view* view = nullptr;
    arrowdevice_error error{};
    must(arrowdevice_array_import(&array, &batch.schema(), nullptr, &view, &error), error);
    arrowdevice_view_release(view);
  }
}

BENCHMARK_CAPTURE(copy_columns, , 1.25)->ArgNames({"columns", "rows"})->Args({kColumns, kMillion})->UseManualTime();
BENCHMARK_CAPTURE(copy_columns_with_a_cold_pool, , 2.0)
    ->ArgNames({"columns", "rows"})
    ->Args({kColumns, kMillion})
    ->UseManualTime();
BENCHMARK_CAPTURE(copy_columns_by_threads, , 1.25)
    ->ArgNames({"columns", "rows"})
    ->Args({kColumns, 4 * kMillion})
    ->Args({kColumns, 16 * kMillion})
    ->UseManualTime();
BENCHMARK_CAPTURE(copy_columns, narrow, 2.5)->ArgNames({"columns", "rows"})->Args({1'000, 100})->UseManualTime();
BENCHMARK_CAPTURE(copy_texts, , 1.25)->ArgName("rows")->Arg(10 * kMillion)->UseManualTime();
BENCHMARK(copy_last_rows_of_columns)->ArgName("rows")->Arg(kMillion)->Arg(10 * kMillion);
BENCHMARK(copy_last_rows_of_texts)->ArgName("rows")->Arg(kMillion)->Arg(10 * kMillion);
BENCHMARK(share_and_release)->ArgName("rows")->Arg(100)->Arg(kMillion);
BENCHMARK(export_and_release)->ArgName("columns")->Arg(8)->Arg(1'000);
BENCHMARK(import_and_release)->ArgName("columns")->Arg(8)->Arg(1'000);

}  // namespace
}  // namespace arrowdevice::bench

BENCHMARK_MAIN();
