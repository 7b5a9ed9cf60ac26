// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: the values of an array that a view shows, and those that it does not show.
#include "cpp/cpp.h"

#include <array>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

// Eight 64-bit values, viewed as an array of any format of fixed width.
struct Raw {
  alignas(16) int64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const void* buffers[2] = {nullptr, values};

  ad::View view(const char* format, int64_t length, int64_t offset = 0, const char* name = "") {
    ArrowSchema type{};
    type.format = format;
    type.name = name;
    type.release = [](ArrowSchema* self) { self->release = nullptr; };
    ArrowArray array{};
    array.length = length;
    array.offset = offset;
    array.n_buffers = 2;
    array.buffers = buffers;
    array.release = [](ArrowArray* self) { self->release = nullptr; };
    return ad::View(ad::DeviceArray::from_host(ad::Array(&array)), ad::Schema(&type));
  }
};

template <typename T>
bool shows(const char* format) {
  Raw raw;
  const ad::View view = raw.view(format, 2);
  try {
    return view.values<T>().size() == 2;
  } catch (const ad::Exception& error) {
    CHECK(error.code() == EINVAL);
    CHECK_THROWS_AS(view.device_values<T>(), ad::Exception);
    return false;
  }
}

// Views the values as each of these types in turn. Returns "+" for each type that the view shows, else "-".
template <typename... Types>
std::string seen(const char* format) {
  return (std::string() + ... + (shows<Types>(format) ? '+' : '-'));
}

// True if the view gives access to its nodes.
template <typename View, typename = void>
constexpr bool kLends = false;
template <typename View>
constexpr bool kLends<View, std::void_t<decltype(std::declval<View>().node())>> = true;
static_assert(kLends<ad::View&> && kLends<const ad::View&> && !kLends<ad::View> && !kLends<const ad::View>);

using Bytes16 = std::array<uint8_t, 16>;

std::string seen_as_numbers(const char* format) {
  return seen<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double, Bytes16>(format);
}

}  // namespace

TEST_CASE("values<T>() accepts only the format's width and kind") {
  CHECK(seen_as_numbers("c") == "+----------");
  CHECK(seen_as_numbers("C") == "-+---------");
  CHECK(seen_as_numbers("s") == "--+--------");
  CHECK(seen_as_numbers("S") == "---+-------");
  CHECK(seen_as_numbers("i") == "----+------");
  CHECK(seen_as_numbers("I") == "-----+-----");
  CHECK(seen_as_numbers("l") == "------+----");
  CHECK(seen_as_numbers("L") == "-------+---");
  CHECK(seen_as_numbers("e") == "---+-------");  // as raw bits
  CHECK(seen_as_numbers("f") == "--------+--");
  CHECK(seen_as_numbers("g") == "---------+-");
  CHECK(seen_as_numbers("tdD") == "----+------");
  CHECK(seen_as_numbers("tsu:Europe/Berlin") == "------+----");
  CHECK(seen_as_numbers("tDn") == "------+----");
  CHECK(seen_as_numbers("tiM") == "----+------");
  CHECK(seen_as_numbers("tin") == "----------+");
  CHECK(seen_as_numbers("w:16") == "----------+");
  CHECK(seen_as_numbers("w:8") == "-----------");
  CHECK(seen_as_numbers("d:18,2,64") == "------+----");
  CHECK(seen_as_numbers("d:38,2") == "----------+");
  CHECK(seen_as_numbers("b") == "-----------");
  CHECK(shows<std::array<char, 8>>("w:8"));
  CHECK(shows<std::array<int32_t, 2>>("tiD"));  // days and milliseconds
}

TEST_CASE("a refusal names the type of the values and the requested type") {
  Raw raw;
  const ad::View view = raw.view("l", 2, 0, "price");
  CHECK(refused(EINVAL, [&] { view.values<uint32_t>(); }) ==
        "\"price\" of format l: its values are signed integers of 64 bits, not unsigned integers of 32");
  CHECK(refused(EINVAL, [&] { view.node().text(0); }) == "\"price\" of format l: it is not of texts or binary values");
  CHECK(refused(EINVAL, [&] { view.node().bits(); }) == "\"price\" of format l: it is not of booleans");
  CHECK(refused(EINVAL, [&] { view.column("x"); }) == "\"price\" of format l: there is no child \"x\"");
  CHECK(refused(EINVAL, [&] { view.column(0); }) == "\"price\" of format l: there is no child 0, but 0");
}

TEST_CASE("the array's offset is applied") {
  Raw raw;
  const ad::View view = raw.view("l", 3, 2);
  CHECK(list(view.values<int64_t>()) == std::vector<int64_t>{3, 4, 5});
  CHECK(view.values<int64_t>().data() == raw.values + 2);
  CHECK(view.device_values<int64_t>().data() == raw.values + 2);
  CHECK(view.device_values<int64_t>().size() == 3);
  CHECK(view.node().size() == 3);
  CHECK(view.node().validity()[2]);  // no buffer: all are valid
}

TEST_CASE("a slice shows its own rows, in every column and level") {
  ad::TypedArray inner = ad::BatchBuilder().add("x", std::vector<int32_t>{10, 11, 12, 13, 14, 15}).build();
  ad::TypedArray batch = ad::BatchBuilder()
                             .add("name", std::vector<std::string>{"a", "b", "c", "d", "e", "f"})
                             .add("flag", std::vector<bool>{false, true, false, true, false, true},
                                  std::vector<bool>{true, true, true, false, true, true})
                             .add("in", std::move(inner))
                             .build();
  ad::DeviceArray slice = batch.array.slice(batch.schema, 2, 3);
  const ad::View view(std::move(slice), batch.schema);
  CHECK(view.node().size() == 3);
  CHECK(view.column("name").text(0) == "c");
  CHECK(view.column("name").text(2) == "e");
  refused(EINVAL, [&] { view.column("name").text(3); });
  CHECK(view.column("flag").bits()[1]);
  CHECK_FALSE(view.column("flag").bits()[2]);
  CHECK_FALSE(view.column("flag").validity()[1]);
  CHECK(list(view.column("in").child("x").values<int32_t>()) == std::vector<int32_t>{12, 13, 14});
}

TEST_CASE("rows of a struct and of fixed-size lists are those of their children") {
  // Uses {items: fixed_size_list<int32>[2]} with an offset at each level.
  const int32_t items[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const void *item_buffers[] = {nullptr, items}, *no_buffers[] = {nullptr};
  const auto release = [](ArrowArray* self) { self->release = nullptr; };
  ArrowArray item{}, list_of_two{}, root{};
  ArrowArray *list_children[] = {&item}, *root_children[] = {&list_of_two};
  item.length = 12;
  item.n_buffers = 2;
  item.buffers = item_buffers;
  item.release = release;
  list_of_two.length = 5;
  list_of_two.offset = 1;
  list_of_two.n_buffers = 1;
  list_of_two.buffers = no_buffers;
  list_of_two.n_children = 1;
  list_of_two.children = list_children;
  list_of_two.release = release;
  root.length = 2;
  root.offset = 1;
  root.n_buffers = 1;
  root.buffers = no_buffers;
  root.n_children = 1;
  root.children = root_children;
  root.release = release;

  const auto release_type = [](ArrowSchema* self) { self->release = nullptr; };
  ArrowSchema item_type{}, list_type{}, root_type{};
  ArrowSchema *list_types[] = {&item_type}, *root_types[] = {&list_type};
  item_type.format = "i";
  item_type.name = "item";
  item_type.release = release_type;
  list_type.format = "+w:2";
  list_type.name = "items";
  list_type.n_children = 1;
  list_type.children = list_types;
  list_type.release = release_type;
  root_type.format = "+s";
  root_type.n_children = 1;
  root_type.children = root_types;
  root_type.release = release_type;

  const ad::View view(ad::DeviceArray::from_host(ad::Array(&root)), ad::Schema(&root_type));
  const ad::Node column = view.column("items");
  CHECK(column.size() == 2);
  CHECK(list(column.child(0).values<int32_t>()) == std::vector<int32_t>{4, 5, 6, 7});
  CHECK(column.child("item").name() == "item");
}

TEST_CASE("a view that is released shows nothing") {
  const ad::View none;
  CHECK(refused(EINVAL, [&] { none.root(); }) == "the view is released");
  refused(EINVAL, [&] { none.array(); });
  refused(EINVAL, [&] { none.column(0); });
  refused(EINVAL, [&] { none.values<int32_t>(); });
}

TEST_CASE("values that are not aligned for their type are refused, not read") {
  Raw raw;
  raw.buffers[1] = reinterpret_cast<const char*>(raw.values) + 1;
  const ad::View view = raw.view("i", 2);
  CHECK(refused(EINVAL, [&] { view.values<int32_t>(); }).find("aligned") != std::string::npos);
}

TEST_CASE("values on a device are a device address and refuse reads by the CPU") {
  ad::TypedArray there = ad::make_array(std::vector<int32_t>{7, 8, 9}).to_device(ad::Device::find_by_name("ext_dev:0"));
  const void* const address = there.array->array.buffers[1];
  const ad::View view = std::move(there).view();
  view.wait();
  CHECK(refused(ENOTSUP, [&] { view.values<int32_t>(); }).find("CPU cannot read") != std::string::npos);
  const ad::DeviceSpan<const int32_t> span = view.device_values<int32_t>();
  CHECK(span.data() == address);
  CHECK(span.size() == 3);
  CHECK_FALSE(span.empty());
  CHECK(span.device() == ad::Device::find_by_name("ext_dev:0"));
  refused(EINVAL, [&] { view.device_values<float>(); });

  const ad::View handles =
      ad::make_array(std::vector<int32_t>{7}).to_device(ad::Device::find_by_name("ext_dev:1")).view();
  CHECK(refused(ENOTSUP, [&] { handles.device_values<int32_t>(); }).find("handles") != std::string::npos);
  refused(ENOTSUP, [&] { handles.values<int32_t>(); });
}
