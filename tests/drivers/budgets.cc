// SPDX-License-Identifier: Apache-2.0
// The number of driver calls that copies of many buffers cost. A driver needs about as long for a call as for some
// hundred kilobytes.
#include <arrowdevice/arrowdevice.h>

#include <map>

#include "drivers/gate.h"
#include "drivers/trips.h"
#include "drivers/vendor.h"
#include "support/catch.h"
#include "support/handles.h"
#include "support/reader.h"

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
  Budget take() {
    const char* const question = is_cuda() ? "cuPointerGetAttributes" : "hipPointerGetAttributes";
    return {since(vendor().copy) + since("cuMemcpyBatchAsync"), since(question)};
  }
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
  expect(made.copies <= budget.copies, way + ": " + std::to_string(made.copies) + " copies");
  expect(made.questions <= budget.questions,
         way + ": " + std::to_string(made.questions) + " questions about addresses");
  expect(pageable == 0, way + ": " + std::to_string(pageable) + " copies of pageable memory");
}

// Copies a table to a GPU and back. Only the second round counts, when the pools have memory.
std::string problem_with(const HostCase& table, const Budget& in, const Budget& out) {
  return in_limited_child([&] {
    const auto schema = table.schema();
    for (const bool counts : {false, true}) {
      Owned<ArrowArray> array = table.array(Ledger());
      Owned<ArrowDeviceArray> host = output_of(arrowdevice_array_from_host, array.get());
      Spent spent;
      spent.take();
      spent.since("pageable copy");
      Owned<ArrowDeviceArray> there = output_of(arrowdevice_array_copy, host.get(), schema.get(), gpu(), nullptr);
      if (counts) expect_within(spent, in, "to the GPU");
      Owned<ArrowDeviceArray> back = output_of(arrowdevice_array_copy, there.get(), schema.get(), cpu(), nullptr);
      if (counts) expect_within(spent, out, "to the host");
      const auto twin = table.array(Ledger());
      const auto changed = difference(*schema, *twin, 0, *schema, back->array, 0, twin->length);
      expect(changed.empty(), "the values changed: " + changed);
    }
    drivers::trim_all();
  });
}

HostCase table_of(const std::vector<const char*>& formats, int columns, int64_t rows) {
  std::vector<Field> fields;
  for (int i = 0; i < columns; ++i) fields.push_back(field(formats[static_cast<size_t>(i) % formats.size()]));
  return {"table", struct_of(std::move(fields)).not_null(), {.rows = rows}};
}

TEST_CASE("a thousand columns of 800 bytes cost one copy each way") {
  CHECK(problem_with(table_of({"l"}, 1'000, 100), {.copies = 1, .questions = 1}, {.copies = 1, .questions = 5}) == "");
}

TEST_CASE("fifty columns of 100 kilobytes cost at most four copies each way") {
  CHECK(problem_with(table_of({"l"}, 50, 12'500), {.copies = 4, .questions = 2}, {.copies = 4, .questions = 9}) == "");
}

TEST_CASE("columns of mixed types and sizes cost few copies each way") {
  CHECK(problem_with(table_of({"l", "i", "g", "s", "b"}, 600, 1'000), {.copies = 2, .questions = 2},
                     {.copies = 4, .questions = 9}) == "");
}

}  // namespace
