// SPDX-License-Identifier: Apache-2.0
// The number of driver calls that copies of many buffers cost. A driver needs about as long for a call as for some
// hundred kilobytes.
#include <arrowdevice/arrowdevice.h>

#include <initializer_list>
#include <map>
#include <optional>

#include "drivers/budgets.h"
#include "drivers/devices.h"
#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/variable.h"

namespace {

using namespace arrowdevice::testing;  // NOLINT: what every line of these tests is written with
using namespace drivers;               // NOLINT: what every line of these tests is written with

// Calls that may be made for a copy.
struct Budget {
  int64_t copies;
  int64_t questions;  // about addresses
};

// The calls since the last time that it was asked.
class Spent {
 public:
  Budget take() { return {since(vendor().copy) + since("cuMemcpyBatchAsync"), since(vendor().question)}; }
  int64_t since(const std::string& call) {
    const int64_t now = calls(call);
    return now - std::exchange(before_[call], now);
  }

 private:
  std::map<std::string, int64_t> before_;
};

void expect_within(Spent& spent, const Budget& budget, const std::string& way) {
  const Budget made = spent.take();
  const int64_t pageable = spent.since("pageable copy");
  expect(pageable == 0, way + ": " + std::to_string(pageable) + " copies of pageable memory");
  expect(made.copies > 0, way + ": no copies were counted");
  expect(made.copies <= budget.copies, way + ": " + std::to_string(made.copies) + " copies");
  const int64_t questions = budget.questions + (vendor().asks_before_copies ? made.copies : 0);
  expect(made.questions <= questions, way + ": " + std::to_string(made.questions) + " questions about addresses");
}

// Copies a table to a GPU and back. Only the second round counts, when the pools have memory. Without a budget for the
// way to the host, only its values are checked.
std::string problem_with(const HostCase& table, const Budget& in, const std::optional<Budget>& out) {
  const bool has_bitmaps = table.knobs.nulls == Nulls::kNoneWithBitmap;
  return in_limited_child([&] {
    const auto schema = table.schema();
    for (const bool counts : {false, true}) {
      Owned<ArrowArray> array = table.array(Ledger());
      // The bitmaps are then copied, and the copy to the GPU counts the nulls.
      for (int64_t i = 0; has_bitmaps && i < array->n_children; ++i) array->children[i]->null_count = -1;
      Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
      Spent spent;
      spent.take();
      spent.since("pageable copy");
      Owned<ArrowDeviceArray> there = output_of(arrowdevice_array_copy, host.get(), schema.get(), gpu(), nullptr);
      if (counts) expect_within(spent, in, "to the GPU");
      Owned<ArrowDeviceArray> back = output_of(arrowdevice_array_copy, there.get(), schema.get(), cpu(), nullptr);
      if (counts && out) expect_within(spent, *out, "to the host");
      expect_values(table, *back);
    }
    drivers::trim_all();
  });
}

// Returns the calls so far, of any of the vendors.
Calls all_calls() {
  const auto sum = [](std::initializer_list<const char*> names) {
    int64_t all = 0;
    for (const char* const name : names) all += calls(name);
    return all;
  };
  Calls all;
  all.copies = all.submissions = sum({"cuMemcpyAsync", "cuMemcpyBatchAsync", "cuMemcpyPeerAsync", "hipMemcpyAsync",
                                      "hipMemcpyPeerAsync", "zeCommandListAppendMemoryCopy"});
  all.waits = sum({"cuEventSynchronize", "cuStreamSynchronize", "hipEventSynchronize", "hipStreamSynchronize",
                   "zeEventHostSynchronize"});
  all.objects = sum({"cuEventCreate", "cuStreamCreate", "cuMemAlloc_v2", "cuMemAllocFromPoolAsync", "cuMemHostAlloc",
                     "hipEventCreateWithFlags", "hipStreamCreateWithFlags", "hipMalloc", "hipMallocFromPoolAsync",
                     "hipHostMalloc", "zeEventCreate", "zeEventPoolCreate", "zeCommandListCreateImmediate",
                     "zeMemAllocDevice", "zeMemAllocHost", "zeMemAllocShared"});
  all.questions = sum({"cuPointerGetAttributes", "hipPointerGetAttributes", "zeMemGetAllocProperties"});
  return all;
}

std::string problem_with_budget(const char* table) {
  return in_limited_child([&] {
    const Variable threads("ARROWDEVICE_COPY_THREADS", "3");
    auto* const peer = output_of(arrowdevice_device_find_by_id, vendor().device, int64_t{1});
    expect_within_budget(vendor().name, table, gpu(), all_calls, peer);
    expect(calls("pageable copy") == 0, std::to_string(calls("pageable copy")) + " copies of pageable memory");
    drivers::trim_all();
  });
}

TEST_CASE("a thousand columns of 800 bytes cost one copy each way") { CHECK(problem_with_budget("narrow") == ""); }

TEST_CASE("columns of mixed types and sizes cost few copies each way") { CHECK(problem_with_budget("mixed") == ""); }

TEST_CASE("fifty columns of 100 kilobytes cost at most four copies each way") {
  CHECK(problem_with_budget("medium") == "");
}

TEST_CASE("a hundred columns of 100 kilobytes cost a copy for each piece") { CHECK(problem_with_budget("wide") == ""); }

TEST_CASE("a column of 64 megabytes costs a copy for each piece") { CHECK(problem_with_budget("large") == ""); }

// The sizes of a string view's data are in host memory, between the buffers that are copied. On the way to the host,
// the library also reads the views of each column.
TEST_CASE("columns of string views cost few copies to the GPU") {
  std::vector<Field> fields{field("w:100")};
  for (int i = 0; i < 100; ++i) fields.push_back(field("vu"));
  const HostCase table{"table", struct_of(std::move(fields)).not_null(), {.rows = 1'000}};
  CHECK(problem_with(table, {.copies = 3, .questions = 2}, std::nullopt) == "");
}

// A bitmap without nulls is not copied to the host, and the columns are further apart on the GPU because of it.
TEST_CASE("columns with bitmaps between them cost one copy to the host") {
  std::vector<Field> fields;
  for (int i = 0; i < 1'000; ++i) fields.push_back(field("l"));
  const HostCase table{
      "table", struct_of(std::move(fields)).not_null(), {.rows = 100, .nulls = Nulls::kNoneWithBitmap}};
  CHECK(problem_with(table, {.copies = 1, .questions = 1}, Budget{.copies = 1, .questions = 5}) == "");
}

// Copies a table from pinned memory to a GPU, or back. `copied` gets the array that the last copy makes.
Budget cost_with_pinned(const HostCase& table, bool to_gpu) {
  auto* const pinned = output_of(arrowdevice_device_find_by_id, vendor().pinned, int64_t{0});
  auto* const target = to_gpu ? gpu() : pinned;
  const auto schema = table.schema();
  auto options = sized<arrowdevice_copy_options>();
  options.flags = ARROWDEVICE_COPY_ALWAYS;
  Owned<ArrowArray> array = table.array(Ledger());
  Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
  Owned<ArrowDeviceArray> source =
      output_of(arrowdevice_array_copy, host.get(), schema.get(), to_gpu ? pinned : gpu(), &options);
  Budget cost{};
  for (int round = 0; round < 2; ++round) {  // when the pools have memory
    Spent spent;
    spent.take();
    Owned<ArrowDeviceArray> there = output_of(arrowdevice_array_copy, source.get(), schema.get(), target, &options);
    cost = spent.take();
    expect_values(table, *output_of(arrowdevice_array_copy, there.get(), schema.get(), cpu(), nullptr));
  }
  return cost;
}

TEST_CASE("pinned memory gets a thousand columns in one copy") {
  if (vendor().pinned == 0) return;  // pinned memory is no device of Level Zero
  const HostCase table{"table", struct_of(std::vector<Field>(1'000, field("l"))).not_null(), {.rows = 99}};
  CHECK(in_limited_child([&] {
          const Budget cost = cost_with_pinned(table, false);
          expect(cost.copies == 1, std::to_string(cost.copies) + " copies");
          drivers::trim_all();
        }) == "");
}

// Bitmaps and padding are gathered in other memory. Copied between the columns, they would slow each column down.
TEST_CASE("columns of pinned memory are copied before their bitmaps") {
  if (vendor().pinned == 0) return;
  const HostCase table{"table", struct_of(std::vector<Field>(50, field("l"))).not_null(), {.rows = 12'501}};
  CHECK(in_limited_child([&] {
          const Budget cost = cost_with_pinned(table, true);
          const int64_t most = vendor().asks_before_copies ? cost.copies + 4 : 4;
          expect(cost.questions <= most, std::to_string(cost.questions) + " questions about addresses");
          drivers::trim_all();
        }) == "");
}

}  // namespace
