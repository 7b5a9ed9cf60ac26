// SPDX-License-Identifier: Apache-2.0
// Tests the cost of copies, as the device counts it.
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using DeviceCounters = arrowdevice::sim::Counters;

constexpr int64_t kMillion = 1'000'000;

template <typename Value, typename Make>
Buffer filled(int64_t entries, const Make& make) {
  Buffer made;
  made.bytes.resize(static_cast<size_t>(entries) * sizeof(Value));
  for (int64_t i = 0; i < entries; ++i) {
    const auto value = static_cast<Value>(make(i));
    std::memcpy(made.bytes.data() + static_cast<size_t>(i) * sizeof value, &value, sizeof value);
  }
  return made;
}

Buffer validity() {
  return filled<uint8_t>(kMillion / 8, [](int64_t i) { return i % 7 == 0 ? 0b11101111 : 0xFF; });
}

// Returns strings of eight bytes per row.
template <typename Offset>
Data strings(int64_t rows) {
  constexpr int64_t kBytes = 8;
  return data_of(rows, {no_buffer(), filled<Offset>(rows + 1, [](int64_t i) { return i * kBytes; }),
                        filled<char>(rows * kBytes, [](int64_t i) { return 'a' + (i / kBytes + i) % 26; })});
}

template <typename Value>
Data numbers() {
  return with_nulls(-1, data_of(kMillion, {validity(), filled<Value>(kMillion, [](int64_t i) { return i; })}));
}

// Returns a type for a million rows: 8 columns of fixed width, 2 of strings, a list of strings, a dictionary
// of 10.
Field tall_type() {
  std::vector<Field> columns;
  for (const char* format : {"l", "g", "i", "s", "tsn:", "c", "f", "b"}) columns.push_back(field(format, format));
  columns.push_back(field("u", "text"));
  columns.push_back(field("U", "large text"));
  columns.push_back(list_of(field("u", "item")).named("tags"));
  columns.push_back(dictionary_of("i", field("u")).named("kind"));
  return struct_of(std::move(columns)).not_null();
}

Data tall_data() {
  Data kinds = data_of(kMillion, {no_buffer(), filled<int32_t>(kMillion, [](int64_t i) { return i % 10; })});
  kinds.dictionary = std::make_shared<Data>(strings<int32_t>(10));
  return data_of(kMillion, {no_buffer()},
                 {numbers<int64_t>(), numbers<double>(), numbers<int32_t>(), numbers<int16_t>(), numbers<int64_t>(),
                  numbers<int8_t>(), numbers<float>(), with_nulls(-1, data_of(kMillion, {validity(), validity()})),
                  strings<int32_t>(kMillion), strings<int64_t>(kMillion),
                  data_of(kMillion, {no_buffer(), filled<int32_t>(kMillion + 1, [](int64_t i) { return 2 * i; })},
                          {strings<int32_t>(2 * kMillion)}),
                  std::move(kinds)});
}

TEST_CASE("the device counts less than 10 KB for ten rows of a million, each way") {
  begin();
  constexpr int64_t kFew = 10'000;
  constexpr int64_t kFirst = 654'321;
  const auto schema = make_schema(tall_type());
  Array here = from_host(make_array(tall_data(), Ledger()));

  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    auto part = slice(*here, *schema, kFirst, 10);
    DeviceCounters before = control::counters(id);
    const auto there = copy(*part, *schema, sim(id));
    const int64_t in = control::counters(id).bytes_in - before.bytes_in;
    CHECK(in > 10 * 8);
    CHECK(in < kFew);
    auto back = copy(*there, *schema, cpu());
    CHECK(arrowdevice::testing::difference(*schema, here->array, kFirst, *schema, back->array, 0, 10) == "");

    auto whole = copy(*here, *schema, sim(id));
    part = slice(*whole, *schema, kFirst, 10);
    before = control::counters(id);
    back = copy(*part, *schema, cpu());
    const DeviceCounters after = control::counters(id);
    CHECK(after.bytes_out - before.bytes_out < kFew);
    CHECK(after.bytes_in == before.bytes_in);
    CHECK(arrowdevice::testing::difference(*schema, here->array, kFirst, *schema, back->array, 0, 10) == "");

    // A move of a shared array costs no more.
    auto moved = output_of(arrowdevice_array_to_host, part.get(), schema.get(), nullptr);
    CHECK(control::counters(id).bytes_out - after.bytes_out < kFew);
  }
}

TEST_CASE("a thousand columns cost one copy and event, and one buffer if the pool is cold") {
  begin();
  std::vector<Field> columns;
  for (int i = 0; i < 1'000; ++i) columns.push_back(field(i % 3 == 0 ? "i" : i % 3 == 1 ? "g" : "b"));
  Sample sample(struct_of(std::move(columns)).not_null(), {.rows = 100});
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    copy(sample, sim(id));  // creates the queue
    must(arrowdevice_pool_trim, default_pool(sim(id)));
    for (const bool cold : {true, false}) {
      INFO("device " << id << (cold ? ", cold" : ", warm"));
      DeviceCounters device_before = control::counters(id);
      Counters before = counters(sim(id));
      auto there = copy(sample, sim(id));
      DeviceCounters device = control::counters(id);
      Counters counted = counters(sim(id));
      CHECK(device.allocations - device_before.allocations == (cold ? 1 : 0));
      CHECK(device.copies - device_before.copies == 1);
      CHECK(device.regions - device_before.regions == 1);
      CHECK(device.events_recorded - device_before.events_recorded == 1);
      CHECK(counted.driver_allocations - before.driver_allocations == (cold ? 1 : 0));
      CHECK(counted.submissions - before.submissions == 1);
      CHECK(counted.regions - before.regions == 1);
      CHECK(counted.events - before.events == 1);
      CHECK(counted.readbacks - before.readbacks == 0);
      CHECK(counted.bytes_in - before.bytes_in == device.bytes_in - device_before.bytes_in);
      CHECK(counted.staged_bytes - before.staged_bytes == device.bytes_in - device_before.bytes_in);

      device_before = device;
      before = counted;
      const auto back = copy(*there, *sample.schema, cpu());
      device = control::counters(id);
      counted = counters(sim(id));
      CHECK(device.allocations == device_before.allocations);
      CHECK(device.copies - device_before.copies == 1);
      CHECK(device.events_recorded - device_before.events_recorded == 1);
      CHECK(counted.submissions - before.submissions == 1);
      CHECK(counted.events - before.events == 1);
      CHECK(counted.readbacks - before.readbacks == 0);
      CHECK(counted.bytes_out - before.bytes_out == device.bytes_out - device_before.bytes_out);
      CHECK(arrowdevice::testing::difference(*sample.schema, *sample.twin, *sample.schema, back->array) == "");
    }
  }
}

TEST_CASE("a thousand columns between two devices are one buffer, one copy and one event") {
  begin();
  std::vector<Field> columns;
  for (int i = 0; i < 1'000; ++i) columns.push_back(field(i % 3 == 0 ? "i" : i % 3 == 1 ? "g" : "b"));
  Sample sample(struct_of(std::move(columns)).not_null(), {.rows = 100});
  const auto there = copy(sample, sim(0));
  const DeviceCounters before = control::counters(1);
  const auto moved = copy(*there, *sample.schema, sim(1));
  const DeviceCounters after = control::counters(1);
  CHECK(after.allocations - before.allocations == 1);
  CHECK(after.copies - before.copies == 1);
  CHECK(after.events_recorded - before.events_recorded == 1);
  // The host sends only the zeros behind two buffers per column.
  constexpr int64_t kMostPadding = 2 * 1'000 * 63;
  CHECK(after.bytes_in - before.bytes_in <= kMostPadding);
  CHECK(difference(sample, *moved) == "");
}

TEST_CASE("the library's counters equal those of the simulated device") {
  begin();
  const Counters before = counters(sim(0));
  Sample sample(mixed_batch(), {.rows = 300});
  auto there = copy(sample, sim(0));
  auto part = slice(*there, *sample.schema, 13, 99);
  copy(*part, *sample.schema, cpu());
  const Counters after = counters(sim(0));
  const DeviceCounters device = control::counters(0);
  CHECK(after.driver_allocations - before.driver_allocations == device.allocations);
  CHECK(after.submissions - before.submissions == device.copies);
  CHECK(after.regions - before.regions == device.regions);
  CHECK(after.events - before.events == device.events_recorded);
  CHECK(after.host_waits - before.host_waits == device.host_waits);
  CHECK(after.bytes_in - before.bytes_in == device.bytes_in);
  CHECK(after.bytes_out - before.bytes_out == device.bytes_out);
  CHECK(after.readbacks - before.readbacks > 0);
}

// The sizes of a string view's data are in host memory. A run of small buffers does not begin there.
TEST_CASE("staging memory has the size of the small buffers behind a large string view") {
  begin();
  constexpr int64_t kText = 1 << 20;
  Buffer view = buffer_of<int32_t>({kText, 0, 0, 0});
  std::memcpy(view.bytes.data() + 4, "aaaa", 4);
  const Data text =
      data_of(1, {no_buffer(), view, filled<char>(kText, [](int64_t) { return 'a'; }), buffer_of<int64_t>({kText})});
  const Data small = data_of(1, {no_buffer(), buffer_of<int8_t>({7})});
  const auto schema = make_schema(struct_of({field("vu", "text"), field("c", "small")}).not_null());
  Array here = from_host(make_array(data_of(1, {no_buffer()}, {text, small}), Ledger()));
  const int64_t before = counters(sim(0)).staged_bytes;
  const Array there = copy(*here, *schema, sim(0));
  const int64_t staged = counters(sim(0)).staged_bytes - before;
  CHECK(staged > 0);
  CHECK(staged < 1'000);
}

}  // namespace
