// SPDX-License-Identifier: Apache-2.0
// Tests the cost of a copy, in calls of the driver and in bytes.
#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

using testing::Field;
using testing::field;

Counters difference(const Counters& after, const Counters& before) {
  Counters made{};
  made.driver_allocations = after.driver_allocations - before.driver_allocations;
  made.submissions = after.submissions - before.submissions;
  made.regions = after.regions - before.regions;
  made.events = after.events - before.events;
  made.host_waits = after.host_waits - before.host_waits;
  made.readbacks = after.readbacks - before.readbacks;
  made.bytes_in = after.bytes_in - before.bytes_in;
  made.bytes_out = after.bytes_out - before.bytes_out;
  made.staged_bytes = after.staged_bytes - before.staged_bytes;
  return made;
}

void expect_count(int64_t count, int64_t expected, const std::string& what, Where where = Where::current()) {
  expect(count == expected, std::to_string(count) + " " + what + ", expected " + std::to_string(expected), where);
}

HostCase wide_batch() {
  std::vector<Field> columns;
  for (int i = 0; i < 1'000; ++i) columns.push_back(field(i % 3 == 0 ? "i" : i % 3 == 1 ? "g" : "b"));
  return {"1000 columns", testing::struct_of(std::move(columns)).not_null(), {.rows = 100, .seed = 5}};
}

Owned<ArrowDeviceArray> copy_in(Subject& subject, Sample& sample, arrowdevice_pool* pool, arrowdevice_queue* queue) {
  auto options = sized<arrowdevice_copy_options>();
  options.pool = pool;
  options.queue = queue;
  return output_of(arrowdevice_array_copy, sample.host.get(), sample.schema.get(), subject.device(), &options);
}

void a_batch_is_one_submission(Subject& subject) {
  const HostCase wide = wide_batch();
  Sample sample(wide);
  const Queue queue = subject.queue();
  auto* made = output_of(arrowdevice_pool_create, subject.device(), nullptr);
  const Pool pool(made);

  for (const bool cold : {true, false}) {
    Counters before = subject.counters();
    auto there = copy_in(subject, sample, pool.get(), queue.get());
    Counters cost = difference(subject.counters(), before);
    expect_count(cost.driver_allocations, cold ? 1 : 0, "buffers on the way in");
    expect_count(cost.submissions, 1, "submissions on the way in");
    expect_count(cost.events, 1, "events on the way in");
    expect_count(cost.readbacks, 0, "readbacks on the way in");
    expect_count(subject.stats(pool.get()).allocations, cold ? 1 : 2, "allocations of the pool");

    before = subject.counters();
    auto back = subject.copy(*there, *sample.schema, subject.cpu(), 0, queue.get());
    cost = difference(subject.counters(), before);
    expect_count(cost.submissions, 1, "submissions on the way out");
    expect_count(cost.events, 1, "events on the way out");
    expect_count(cost.readbacks, 0, "readbacks on the way out");
    sample.expect_values(back->array);
    there.reset();
    wait_idle();
  }
}

void a_slice_moves_its_bytes_only(Subject& subject) {
  std::vector<Field> columns;
  for (const char* format : {"l", "g", "i", "s", "tsn:", "d:38,10", "f", "b"}) columns.push_back(field(format));
  columns.push_back(field("u"));
  columns.push_back(field("U"));
  columns.push_back(testing::list_of(field("u")));
  columns.push_back(testing::dictionary_of("i", field("u")));
  const HostCase tall{"100000 rows", testing::struct_of(std::move(columns)).not_null(), {.rows = 100'000, .seed = 6}};
  Sample sample(tall);
  // The columns have fewer than 64 buffers, each of which begins at a multiple of the alignment.
  const int64_t few = 10'000 + 64 * subject.info().sub_buffer_alignment;
  const Range range{54'321, 10};

  auto slice = subject.slice(*sample.host, *sample.schema, range);
  Counters before = subject.counters();
  auto there = subject.to_device(*slice, *sample.schema);
  Counters cost = difference(subject.counters(), before);
  expect(cost.bytes_in < few, std::to_string(cost.bytes_in) + " bytes in for 10 rows");
  auto back = subject.to_cpu(*there, *sample.schema);
  sample.expect_values(back->array, range.offset);

  auto whole = subject.to_device(*sample.host, *sample.schema);
  auto device_slice = subject.slice(*whole, *sample.schema, range);
  before = subject.counters();
  back = subject.to_cpu(*device_slice, *sample.schema);
  cost = difference(subject.counters(), before);
  expect(cost.bytes_out < few, std::to_string(cost.bytes_out) + " bytes out for 10 rows");
  sample.expect_values(back->array, range.offset);
}

void sizes_are_read_in_one_batch(Subject& subject) {
  std::vector<Field> columns;
  for (int i = 0; i < 20; ++i) columns.push_back(i % 2 == 0 ? field("u") : testing::list_of(field("U")));
  const HostCase nested{"strings", testing::struct_of(std::move(columns)).not_null(), {.rows = 200, .seed = 7}};
  Sample sample(nested);
  auto there = subject.to_device(*sample.host, *sample.schema);
  const Counters before = subject.counters();
  auto back = subject.to_cpu(*there, *sample.schema);
  const Counters cost = difference(subject.counters(), before);
  expect(cost.readbacks <= 1, std::to_string(cost.readbacks) + " readbacks for an array that is not sliced");
  sample.expect_values(back->array);
}

void nothing_is_moved_for_nothing(Subject& subject) {
  Sample sample(testing::find_case("record batch without columns"));
  const Counters before = subject.counters();
  auto there = subject.to_device(*sample.host, *sample.schema);
  auto back = subject.to_cpu(*there, *sample.schema);
  const Counters cost = difference(subject.counters(), before);
  expect_count(cost.driver_allocations, 0, "buffers for no bytes");
  expect_count(cost.regions, 0, "regions for no bytes");
  sample.expect_values(back->array);
}

void shares_move_nothing(Subject& subject) {
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  const Counters before = subject.counters();
  auto second = subject.share(*there);
  auto slice = subject.slice(*second, *sample.schema, {7, 9});
  const int64_t columns[] = {1, 3};
  Owned<ArrowDeviceArray> out;
  must(arrowdevice_array_select, slice.get(), sample.schema.get(), columns, 2, out.out(), nullptr);
  const Counters cost = difference(subject.counters(), before);
  expect_count(cost.driver_allocations, 0, "buffers for what shares");
  expect_count(cost.submissions, 0, "submissions for what shares");
  expect_count(cost.host_waits, 0, "waits for what shares");
}

constexpr uint32_t kNeeds = kNeedsDiscrete | kNeedsDirect;

}  // namespace

std::span<const Case> cost_cases() {
  static constexpr Case kCases[] = {
      {"a batch of a thousand columns is one buffer, one submission and one event", kNeeds, a_batch_is_one_submission},
      {"ten rows of a hundred thousand move few bytes", kNeeds, a_slice_moves_its_bytes_only},
      {"sizes of an array that is not sliced are read back in one batch", kNeeds, sizes_are_read_in_one_batch},
      {"an array without bytes takes no memory and copies nothing", kNeeds, nothing_is_moved_for_nothing},
      {"sharing, slicing and selecting do not call the driver", kNeedsNothing, shares_move_nothing},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
