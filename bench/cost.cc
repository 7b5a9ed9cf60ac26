// SPDX-License-Identifier: Apache-2.0
// Repeats one call, so that its cost can be counted instead of timed. scripts/costs.py runs this program twice under
// valgrind and takes the difference.
//
//   bench-cost            lists the cases: name, useful number of repetitions, and the bounds on instructions and on
//                         operator new calls ("-" for no bound), separated by tabs
//   bench-cost CASE N     repeats the case N times, and prints the number of operator new calls per repetition
#include <arrowdevice/arrowdevice.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "allocations.h"
#include "batch.h"

namespace arrowdevice::bench {
namespace {

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kFewRows = 100;
constexpr int64_t kColumns = 8;
constexpr int64_t kLastRows = 10;

// Error of the last call. It is shared, so that clearing an error is not counted.
arrowdevice_error error;

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

// A call with all its data.
using Work = std::function<void()>;

Work copy(int64_t columns, int64_t rows) {
  return [batch = std::make_shared<Batch>(columns, rows)] {
    ArrowDeviceArray out{};
    must(arrowdevice_array_copy(&batch->array(), &batch->schema(), cpu(), nullptr, &out, &error));
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

struct Case {
  int64_t times;
  const char* instructions;  // bounds
  const char* allocations;
  std::function<Work()> make;
};

// The bounds of exports and imports exclude the producer's own release, which has its own case here with 27
// instructions.
const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> all = {
      {"copy of the last 10 rows of 8 x 1M int64",
       {100, "12000", "-", [] { return copy_last_rows(std::make_shared<Batch>(kColumns, kMillion)); }}},
      {"copy of the last 10 rows of 8 x 10M int64",
       {100, "12000", "-", [] { return copy_last_rows(std::make_shared<Batch>(kColumns, 10 * kMillion)); }}},
      {"copy of the last 10 rows of 10M utf8",
       {100, "4000", "-", [] { return copy_last_rows(std::make_shared<Texts>(10 * kMillion)); }}},
      {"copy of 8 x 100 int64", {100, "-", "-", [] { return copy(kColumns, kFewRows); }}},
      {"copy of 1000 x 100 int64", {10, "-", "-", [] { return copy(1'000, kFewRows); }}},
      {"release of 8 columns by the producer", {1'000, "-", "0", release_by_the_producer}},
      {"export and release of 8 columns", {1'000, "177", "-", [] { return export_and_release(kColumns); }}},
      {"import and release of 8 columns", {1'000, "4027", "-", [] { return import_and_release(kColumns); }}},
      {"import and release of 108 columns", {100, "49027", "-", [] { return import_and_release(kColumns + 100); }}},
      {"share and release of 8 x 100", {1'000, "-", "1", [] { return share(kFewRows); }}},
      {"share and release of 8 x 1M", {1'000, "-", "1", [] { return share(kMillion); }}},
      {"slice and release of 8 x 100", {1'000, "-", "1", [] { return slice(kFewRows); }}},
      {"slice and release of 8 x 1M", {1'000, "-", "1", [] { return slice(kMillion); }}},
      {"two moves of 8 x 100", {1'000, "-", "0", [] { return move(kFewRows); }}},
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
  for (int64_t i = 0; i < times; ++i) work();
  if (times > 0) std::printf("%lld\n", static_cast<long long>((allocations() - before) / times));
  // Skips the destructors, because they cost the same in every run.
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;
  if (argc == 3) return run(argv[1], std::atoll(argv[2]));
  for (const auto& [name, one] : cases()) {
    std::printf("%s\t%lld\t%s\t%s\n", name.c_str(), static_cast<long long>(one.times), one.instructions,
                one.allocations);
  }
  return 0;
}
