// SPDX-License-Identifier: Apache-2.0
// Tests the data that a copy needs of each field. If an array is in host memory, the tests inspect the plan.
// If it is on a device, they check the number of read-backs and the copied bytes.
#include "transfer/plan.h"

#include "base/error.h"
#include "library.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using arrowdevice::Error;
using arrowdevice::schema::Binding;
using arrowdevice::schema::Tree;
using arrowdevice::transfer::Extent;
using arrowdevice::transfer::make_plan;
using arrowdevice::transfer::Node;
using arrowdevice::transfer::Plan;
using arrowdevice::transfer::SourceReader;
using arrowdevice::transfer::TrimMode;

// The largest index buffer on a device, in bytes, that is read back to be rebased.
constexpr int64_t kLargestIndex = 64 << 10;

constexpr TrimMode kTrimmed{.whole = false, .bits_can_shift = true, .target_on_host = false};

struct Planned {
  Planned(const Field& type, Data data, TrimMode cut = kTrimmed)
      : schema(make_schema(type)),
        array(make_array(std::move(data), Ledger())),
        tree(*schema),
        bound(tree, *array),
        plan(make_plan(bound, cut, contents, true, std::pmr::new_delete_resource())) {}

  Extent slots(int32_t field) const { return {plan[field].slots.first, plan[field].slots.count}; }

  Owned<ArrowSchema> schema;
  Owned<ArrowArray> array;
  Tree tree;
  Binding bound;
  SourceReader contents;
  Plan plan;
};

Buffer zeros(int64_t bytes) {
  Buffer made;
  made.bytes.resize(static_cast<size_t>(bytes));
  return made;
}

Data int32s(int64_t length, int64_t offset = 0) {
  return at(offset, data_of(length, {no_buffer(), zeros((length + offset) * 4)}));
}

TEST_CASE("a plan needs a struct's rows of its children, after their own offsets") {
  Data root = at(3, data_of(5, {no_buffer()}, {int32s(8), int32s(10, 20)}));
  const Planned planned(struct_of({field("i"), field("i")}), std::move(root));
  CHECK(planned.slots(0) == Extent{3, 5});
  CHECK(planned.slots(1) == Extent{3, 5});
  CHECK(planned.slots(2) == Extent{23, 5});
  CHECK(planned.plan[0].offset == 0);
}

TEST_CASE("a plan needs the fixed number of items for each row of a fixed-size list") {
  Data root = at(3, data_of(2, {no_buffer()}, {int32s(20, 1)}));
  const Planned planned(fixed_size_list_of(4, field("i")), std::move(root));
  CHECK(planned.slots(1) == Extent{1 + 3 * 4, 2 * 4});
}

TEST_CASE("a plan needs the items between the offsets of a list's rows") {
  Data root = at(1, data_of(2, {no_buffer(), buffer_of<int32_t>({0, 5, 6, 9, 30})}, {int32s(40, 7)}));
  const Planned planned(list_of(field("i")), std::move(root));
  CHECK(planned.slots(1) == Extent{7 + 5, 4});
  CHECK(planned.plan.refs(0).base == 5);
}

TEST_CASE("a plan needs the bytes between the offsets of the strings") {
  Data root = at(1, data_of(2, {no_buffer(), buffer_of<int64_t>({0, 5, 6, 9}), zeros(9)}));
  const Planned planned(field("U"), std::move(root));
  CHECK(planned.plan.refs(0).bytes == Extent{5, 4});
}

TEST_CASE("a plan needs the items that a list view's slots span") {
  Data root = data_of(
      3, {buffer_of<uint8_t>({0b1011}), buffer_of<int32_t>({0, 20, 99, 12}), buffer_of<int32_t>({50, 2, 99, 3})},
      {int32s(60, 5)});
  root = with_nulls(1, at(1, std::move(root)));
  const Planned planned(list_view_of(field("i")), std::move(root));
  CHECK(planned.slots(1) == Extent{5 + 12, 10});
}

TEST_CASE("a plan needs the selected rows of dense unions, and all rows of sparse ones") {
  Data dense = at(
      1, data_of(3, {buffer_of<uint8_t>({9, 5, 9, 5}), buffer_of<int32_t>({0, 3, 2, 4})}, {int32s(5, 2), int32s(6)}));
  const Planned planned(dense_union_of("5,9", {field("i"), field("i")}), std::move(dense));
  CHECK(planned.slots(1) == Extent{2 + 3, 2});
  CHECK(planned.slots(2) == Extent{2, 1});

  Data sparse = at(1, data_of(3, {buffer_of<uint8_t>({0, 1, 0, 1})}, {int32s(4, 2), int32s(4)}));
  const Planned all(sparse_union_of("0,1", {field("i"), field("i")}), std::move(sparse));
  CHECK(all.slots(1) == Extent{3, 3});
  CHECK(all.slots(2) == Extent{1, 3});
}

TEST_CASE("a plan needs the runs that cover the rows, without the parent's offset") {
  Data ends = int32s(3, 1);
  ends.buffers[1] = buffer_of<int32_t>({0, 3, 7, 20});
  Data root = at(5, data_of(4, {}, {std::move(ends), int32s(3, 10)}));
  const Planned planned(run_end_encoded("i", field("i")), std::move(root));
  CHECK(planned.slots(1) == Extent{1 + 1, 2});
  CHECK(planned.slots(2) == Extent{10 + 1, 2});
  CHECK(planned.plan.refs(1).runs_of == Extent{5, 4});
}

TEST_CASE("a plan never trims a dictionary") {
  Data root = int32s(2, 3);
  root.dictionary = std::make_shared<Data>(int32s(50, 4));
  const Planned planned(dictionary_of("i", field("i")), std::move(root));
  CHECK(planned.slots(0) == Extent{3, 2});
  CHECK(planned.slots(1) == Extent{4, 50});
}

TEST_CASE("a plan for no rows needs nothing and reads nothing") {
  const std::pair<Field, Data> empty[] = {
      {list_of(field("i")), data_of(0, {no_buffer(), no_buffer()}, {int32s(10)})},
      {list_view_of(field("i")), data_of(0, {no_buffer(), no_buffer(), no_buffer()}, {int32s(10)})},
      {dense_union_of("0", {field("i")}), data_of(0, {no_buffer(), no_buffer()}, {int32s(10)})},
      {run_end_encoded("i", field("i")), data_of(0, {}, {int32s(0), int32s(0)})},
  };
  for (const auto& [type, data] : empty) {
    INFO(type.format);
    const Planned planned(type, data);
    CHECK(planned.plan[1].slots.count == 0);
  }
}

TEST_CASE("a whole plan keeps offsets, except the offset of a record batch") {
  constexpr TrimMode kWhole{.whole = true, .bits_can_shift = true, .target_on_host = false};
  const Planned plain(field("i"), int32s(5, 3), kWhole);
  CHECK(plain.slots(0) == Extent{0, 8});
  CHECK(plain.plan[0].offset == 3);

  Data batch = at(3, data_of(5, {no_buffer()}, {int32s(9, 2)}));
  const Planned planned(struct_of({field("i")}), std::move(batch), kWhole);
  CHECK(planned.plan[0].offset == 0);
  CHECK(planned.slots(1) == Extent{0, 2 + 3 + 5});
  CHECK(planned.plan[1].offset == 5);
}

TEST_CASE("a plan for data with references out of bounds is refused with the path") {
  Data list = data_of(2, {no_buffer(), buffer_of<int32_t>({0, 5, 60})}, {int32s(40)});
  Data root = data_of(2, {no_buffer()}, {std::move(list)});
  const Field type = struct_of({list_of(field("i")).named("prices")});
  try {
    const Planned planned(type, std::move(root));
    FAIL_CHECK("it was planned");
  } catch (const Error& e) {
    CHECK(e.code() == EINVAL);
    CHECK(contains(e.message(), "batch.prices: the offsets reach 60, but the child's length is 40"));
  }
}

// -- on devices

TEST_CASE("a node with bits begins within a byte between devices, else at a byte's start") {
  begin();
  const Field types[] = {field("i"),
                         field("b"),
                         list_of(field("i")),
                         struct_of({field("u")}),
                         list_view_of(field("i")),
                         field("vu"),
                         fixed_size_list_of(3, field("s"))};
  for (const Field& type : types) {
    Sample sample(type, {.rows = 200});
    INFO(type.format);
    auto there = copy(sample, sim(0));
    for (const int64_t first : {0, 3, 8, 13, 127}) {
      auto shared = slice(*there, *sample.schema, first, 61);
      const auto moved = copy(*shared, *sample.schema, sim(1));
      CHECK(moved->array.offset == first % 8);
      CHECK(moved->array.length == 61);
      CHECK(difference(sample, *moved, first) == "");
      const auto home = copy(*shared, *sample.schema, cpu());
      CHECK(home->array.offset == 0);
      auto host_slice = slice(*sample.host, *sample.schema, first, 61);
      CHECK(copy(*host_slice, *sample.schema, sim(1))->array.offset == 0);
    }
  }
}

TEST_CASE("between devices a node without bits begins at its start") {
  begin();
  Sample sample(field("i").not_null(), {.rows = 200, .nulls = Nulls::kNone});
  auto there = copy(sample, sim(0));
  auto part = slice(*there, *sample.schema, 13, 61);
  const auto moved = copy(*part, *sample.schema, sim(1));
  CHECK(moved->array.offset == 0);
  CHECK(difference(sample, *moved, 13) == "");
}

// An array in which row i refers to item i of a child or of bytes. The number of items in a copy of half of
// its rows shows if the copy was trimmed.
struct Threshold {
  const char* name;
  Field type;
  int64_t index_bytes;                                              // per slot, of the buffer that the limit applies to
  int64_t extra;                                                    // entries beyond the slots
  std::function<Data(int64_t rows)> make;                           // makes `rows` rows
  std::function<int64_t(const ArrowArray&, int64_t device)> items;  // returns the number of copied items
};

Buffer counted(int64_t entries, int64_t first = 0) {
  Buffer made;
  made.bytes.resize(static_cast<size_t>(entries) * 4);
  for (int64_t i = 0; i < entries; ++i) {
    const auto value = static_cast<int32_t>(i + first);
    std::memcpy(made.bytes.data() + i * 4, &value, sizeof value);
  }
  return made;
}

Buffer ones(int64_t entries) {
  Buffer made = counted(entries);
  for (int64_t i = 0; i < entries; ++i) {
    constexpr int32_t kOne = 1;
    std::memcpy(made.bytes.data() + i * 4, &kOne, sizeof kOne);
  }
  return made;
}

constexpr int32_t kItem = 16;  // bytes of a string that is too long for its view

Data views(int64_t rows) {
  Data data = data_of(rows, {no_buffer(), zeros(rows * 16)});
  for (int64_t i = 0; i < rows; ++i) {
    const int32_t view[] = {kItem, 0, 0, static_cast<int32_t>(i) * kItem};
    std::memcpy(data.buffers[1].bytes.data() + i * 16, view, sizeof view);
  }
  data.buffers.push_back(zeros(rows * kItem));
  data.buffers.push_back(buffer_of<int64_t>({rows * kItem}));
  return data;
}

const std::vector<Threshold>& thresholds() {
  const auto child_length = [](const ArrowArray& array, int64_t) { return array.children[0]->length; };
  static const std::vector<Threshold> all = {
      {"list", list_of(field("i")), 4, 1,
       [](int64_t rows) {
         return data_of(rows, {no_buffer(), counted(rows + 1)}, {int32s(rows)});
       },
       child_length},
      {"list view", list_view_of(field("i")), 4, 0,
       [](int64_t rows) {
         return data_of(rows, {no_buffer(), counted(rows), ones(rows)}, {int32s(rows)});
       },
       child_length},
      {"dense union", dense_union_of("0", {field("i")}), 4, 0,
       [](int64_t rows) {
         return data_of(rows, {zeros(rows), counted(rows)}, {int32s(rows)});
       },
       child_length},
      {"binary view", field("vu"), 16, 0, views,
       [](const ArrowArray& array, int64_t) {
         int64_t size = 0;  // sizes of variadic buffers are in host memory on devices with addresses
         std::memcpy(&size, array.buffers[3], sizeof size);
         return size / kItem;
       }},
  };
  return all;
}

TEST_CASE("index buffers are rebased up to 64 KiB between devices, and always for the CPU") {
  begin();
  for (const Threshold& one : thresholds()) {
    for (const int64_t beyond : {-1, 0, 1}) {
      INFO(one.name << ", " << beyond << " more than 64 KiB");
      const int64_t rows = kLargestIndex / one.index_bytes - one.extra + beyond;
      const auto schema = make_schema(one.type);
      const Array here = from_host(make_array(one.make(2 * rows), Ledger()));
      auto there = copy(*here, *schema, sim(0));
      auto half = slice(*there, *schema, rows, rows);

      const auto moved = copy(*half, *schema, sim(1));
      const auto home = copy(*moved, *schema, cpu());
      CHECK(arrowdevice::testing::difference(*schema, here->array, rows, *schema, home->array, 0, rows) == "");
      CHECK(one.items(moved->array, 1) == (beyond <= 0 ? rows : 2 * rows));

      const auto half_home = copy(*half, *schema, cpu());
      CHECK(arrowdevice::testing::difference(*schema, here->array, rows, *schema, half_home->array, 0, rows) == "");
      CHECK(one.items(half_home->array, 1) == rows);
    }
  }
}

TEST_CASE("run ends are trimmed up to 64 KiB between devices, and always for the CPU") {
  begin();
  for (const int64_t beyond : {-1, 0, 1}) {
    INFO(beyond << " more than 64 KiB");
    const int64_t runs = kLargestIndex / 4 + beyond;
    const Field type = run_end_encoded("i", field("i"));
    const auto schema = make_schema(type);
    Data data = data_of(runs, {}, {int32s(runs), int32s(runs)});
    data.children[0].buffers[1] = counted(runs, 1);
    data.children[1].buffers[1] = counted(runs);
    const Array here = from_host(make_array(std::move(data), Ledger()));
    auto there = copy(*here, *schema, sim(0));
    auto half = slice(*there, *schema, runs / 2, 100);
    const auto moved = copy(*half, *schema, sim(1));
    const auto home = copy(*moved, *schema, cpu());
    CHECK(arrowdevice::testing::difference(*schema, here->array, runs / 2, *schema, home->array, 0, 100) == "");
    CHECK(moved->array.children[1]->length == (beyond <= 0 ? 100 : runs));

    const auto part_home = copy(*half, *schema, cpu());
    CHECK(arrowdevice::testing::difference(*schema, here->array, runs / 2, *schema, part_home->array, 0, 100) == "");
    CHECK(part_home->array.offset == 0);
    CHECK(part_home->array.children[1]->length == 100);
  }
}

// The cost of a copy from device 0, as the library and the device count it.
struct Cost {
  int64_t readbacks, submissions, copies;
};

Cost cost_of(const std::function<void()>& work) {
  const Counters before = counters(sim(0));
  const auto device_before = control::counters(0);
  work();
  const Counters after = counters(sim(0));
  return {after.readbacks - before.readbacks, after.submissions - before.submissions,
          control::counters(0).copies - device_before.copies};
}

TEST_CASE("an array that is not sliced is read back once, however many levels it has") {
  begin();
  const Field deep = list_of(list_view_of(large_list_of(struct_of({field("u"), list_of(field("vu"))}))));
  for (const Field& type : {mixed_batch(), deep, map_of(field("u"), list_of(field("U")))}) {
    Sample sample(type, {.rows = 50});
    INFO(type.format);
    const auto there = copy(sample, sim(0));
    Array back;
    const Cost cost = cost_of([&] { back = copy(*there, *sample.schema, cpu()); });
    CHECK(cost.readbacks == 1);
    CHECK(cost.submissions == 2);
    CHECK(cost.copies == 2);
    CHECK(difference(sample, *back) == "");
  }
}

TEST_CASE("a slice is read back at most once for each level of nesting") {
  begin();
  Field nested = field("u");
  for (int levels = 1; levels <= 5; ++levels) {
    Sample sample(nested, {.rows = 60});
    INFO(levels << " levels");
    auto there = copy(sample, sim(0));
    auto part = slice(*there, *sample.schema, 21, 17);
    Array back;
    const Cost cost = cost_of([&] { back = copy(*part, *sample.schema, cpu()); });
    CHECK(cost.readbacks >= 1);
    CHECK(cost.readbacks <= levels);
    CHECK(cost.copies == cost.readbacks + 1);
    CHECK(difference(sample, *back, 21) == "");
    nested = list_of(nested);
  }
}

TEST_CASE("values of fixed width are never read back") {
  begin();
  Sample sample(
      struct_of({field("i"), fixed_size_list_of(3, field("b")), sparse_union_of("0,1", {field("g"), field("b")})})
          .not_null(),
      {.rows = 90});
  auto there = copy(sample, sim(0));
  auto part = slice(*there, *sample.schema, 13, 40);
  Array back;
  const Cost cost = cost_of([&] { back = copy(*part, *sample.schema, cpu()); });
  CHECK(cost.readbacks == 0);
  CHECK(cost.copies == 1);
  CHECK(difference(sample, *back, 13) == "");
}

TEST_CASE("arrays in host memory are never read back") {
  begin();
  Sample sample(mixed_batch(), {.rows = 90});
  auto part = slice(*sample.host, *sample.schema, 13, 40);
  Array there;
  const Cost cost = cost_of([&] { there = copy(*part, *sample.schema, sim(0)); });
  CHECK(cost.readbacks == 0);
  CHECK(cost.copies == 1);
  CHECK(difference(sample, *there, 13) == "");
}

}  // namespace
