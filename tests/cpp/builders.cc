// SPDX-License-Identifier: Apache-2.0
// Tests arrowdevice.hpp: arrays that own vectors. The vectors are not copied, and are freed with the array.
#include "cpp/cpp.h"

#include <array>
#include <limits>

namespace {

using namespace cpp_test;  // NOLINT: what every line of these tests is written with

// Counts the live elements of vectors.
struct Ledger {
  int64_t live = 0;
};

template <typename T>
struct Counting {
  using value_type = T;

  explicit Counting(Ledger& of) noexcept : ledger(&of) {}
  template <typename U>
  Counting(const Counting<U>& other) noexcept : ledger(other.ledger) {}  // NOLINT: allocators convert

  T* allocate(std::size_t n) {
    ++ledger->live;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    --ledger->live;
    std::allocator<T>().deallocate(memory, n);
  }
  friend bool operator==(const Counting& a, const Counting& b) noexcept { return a.ledger == b.ledger; }
  friend bool operator!=(const Counting& a, const Counting& b) noexcept { return !(a == b); }

  Ledger* ledger;
};

static_assert(kMovesOnly<ad::TypedArray> && kMovesOnly<ad::BatchBuilder>);

template <typename T>
void check_format(const char* format) {
  INFO(format);
  const std::vector<T> expected{std::numeric_limits<T>::min(), 0, std::numeric_limits<T>::max()};
  ad::TypedArray made = ad::make_array(std::vector<T>(expected));
  CHECK(std::string(made.schema->format) == format);
  CHECK(made.schema->flags == ARROW_FLAG_NULLABLE);
  made.array.validate(made.schema, ARROWDEVICE_VALIDATE_STRICT);
  CHECK(std::string(made.schema->name).empty());
  const ad::View view = std::move(made).view();
  CHECK(list(view.values<T>()) == expected);
}

}  // namespace

TEST_CASE("a vector becomes an array of its type") {
  check_format<int8_t>("c");
  check_format<uint8_t>("C");
  check_format<int16_t>("s");
  check_format<uint16_t>("S");
  check_format<int32_t>("i");
  check_format<uint32_t>("I");
  check_format<int64_t>("l");
  check_format<uint64_t>("L");
  check_format<long long>("l");
  check_format<float>("f");
  check_format<double>("g");
}

TEST_CASE("a vector lives on as the array's buffer, until the last owner releases it") {
  Ledger ledger;
  {
    std::vector<int32_t, Counting<int32_t>> values({1, 2, 3}, Counting<int32_t>(ledger));
    const void* const memory = values.data();
    ad::TypedArray made = ad::make_array(std::move(values), {true, false, true});
    CHECK(ledger.live == 1);
    CHECK(made.array->array.buffers[1] == memory);
    CHECK(made.array->array.null_count == 1);
    CHECK(made.array->device_type == ARROW_DEVICE_CPU);
    ad::DeviceArray shared = made.array.share();
    ad::TypedArray batch = ad::BatchBuilder().add("a", std::move(made)).build();
    CHECK(batch.array->array.children[0]->buffers[1] == memory);
    batch.array.reset();
    CHECK(ledger.live == 1);
    CHECK(shared->array.buffers[1] == memory);
  }
  CHECK(ledger.live == 0);
}

TEST_CASE("a vector is freed after its copy to a device") {
  for (const char* name : kDevices) {
    INFO(name);
    Ledger ledger;
    std::vector<int64_t, Counting<int64_t>> values(Counting<int64_t>{ledger});
    for (int64_t i = 0; i < 1000; ++i) values.push_back(i);
    ad::TypedArray there = ad::make_array(std::move(values)).to_device(ad::Device::find_by_name(name));
    ad::wait_idle();
    CHECK(ledger.live == (std::string(name) == "cpu" ? 1 : 0));
    const ad::View back = std::move(there).to_device(ad::Device::find_by_name("cpu")).view();
    REQUIRE(back.values<int64_t>().size() == 1000);
    CHECK(back.values<int64_t>()[999] == 999);
  }
}

TEST_CASE("the validity marks the nulls, and is absent if all values are valid") {
  const std::vector<bool> validity{true, false, true, true, false, true, true, true, true, false};
  ad::TypedArray some = ad::make_array(std::vector<double>(10, 0.5), validity);
  CHECK(some.array->array.null_count == 3);
  some.array.validate(some.schema, ARROWDEVICE_VALIDATE_STRICT);
  const ad::View view = std::move(some).view();
  for (std::size_t i = 0; i < validity.size(); ++i) CHECK(view.node().validity()[i] == validity[i]);

  const ad::TypedArray none = ad::make_array(std::vector<double>(10), std::vector<bool>(10, true));
  CHECK(none.array->array.null_count == 0);
  CHECK(none.array->array.buffers[0] == nullptr);
  CHECK(refused(EINVAL, [] { ad::make_array(std::vector<int32_t>(3), std::vector<bool>(4)); }) ==
        "the validity has 4 rows, the values have 3");
}

TEST_CASE("texts and booleans become arrays") {
  const std::vector<std::string> texts{"", "eins", "zwei und mehr", "drei"};
  ad::TypedArray made = ad::make_array(texts, {true, true, true, false});
  CHECK(std::string(made.schema->format) == "u");
  made.array.validate(made.schema, ARROWDEVICE_VALIDATE_STRICT);
  const ad::View view = std::move(made).view();
  for (std::size_t i = 0; i < texts.size(); ++i) CHECK(view.node().text(static_cast<int64_t>(i)) == texts[i]);
  CHECK_FALSE(view.node().validity()[3]);

  const std::vector<bool> flags{true, false, false, true, true, false, true, false, true};
  ad::TypedArray bools = ad::make_array(flags);
  CHECK(std::string(bools.schema->format) == "b");
  const ad::View bits = std::move(bools).view();
  REQUIRE(bits.node().bits().size() == flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) CHECK(bits.node().bits()[i] == flags[i]);
}

TEST_CASE("make_array accepts an empty vector") {
  for (const char* name : kDevices) {
    const ad::Device device = ad::Device::find_by_name(name);
    for (const bool is_moved : {false, true}) {
      ad::TypedArray batch = ad::BatchBuilder()
                                 .add("number", std::vector<int16_t>{})
                                 .add("text", std::vector<std::string>{})
                                 .add("flag", std::vector<bool>{})
                                 .build();
      if (is_moved) batch = std::move(batch).to_device(device).to_device(ad::Device::find_by_name("cpu"));
      batch.array.validate(batch.schema, ARROWDEVICE_VALIDATE_STRICT);
      const ad::View view = std::move(batch).view();
      CHECK(view.column("number").values<int16_t>().empty());
      CHECK(view.column("text").size() == 0);
    }
  }
}

TEST_CASE("a batch has its columns by name and survives the round trip to every device") {
  for (const char* name : kDevices) {
    INFO(name);
    ad::TypedArray inner = ad::BatchBuilder().add("x", std::vector<float>{1.5f, 2.5f, 3.5f}).build();
    ad::TypedArray batch =
        ad::BatchBuilder()
            .add("id", std::vector<int64_t>{1, 2, 3})
            .add("city", std::vector<std::string>{"Ulm", "Bern", "Graz"}, std::vector<bool>{true, false, true})
            .add("at", std::move(inner))
            .build();
    batch.array.validate(batch.schema, ARROWDEVICE_VALIDATE_STRICT);
    CHECK(batch.schema->flags == 0);
    const ad::Device device = ad::Device::find_by_name(name);
    batch = std::move(batch).to_device(device);
    CHECK(batch.array.device() == device);
    batch = std::move(batch).to_device(ad::Device::find_by_name("cpu"), ad::copy_options());
    const ad::View view = std::move(batch).view();
    CHECK(list(view.column("id").values<int64_t>()) == std::vector<int64_t>{1, 2, 3});
    CHECK(view.column("city").text(2) == "Graz");
    CHECK_FALSE(view.column("city").validity()[1]);
    CHECK(list(view.column("at").child("x").values<float>()) == std::vector<float>{1.5f, 2.5f, 3.5f});
  }
}

TEST_CASE("a column that a consumer has moved out outlives its batch") {
  Ledger ledger;
  std::vector<int32_t, Counting<int32_t>> values({4, 5}, Counting<int32_t>(ledger));
  ad::TypedArray batch = ad::BatchBuilder().add("a", std::move(values)).build();
  ad::Array column(batch.array.get()->array.children[0]);
  batch.array.reset();
  CHECK(ledger.live == 1);
  CHECK(static_cast<const int32_t*>(column->buffers[1])[1] == 5);
  column.reset();
  CHECK(ledger.live == 0);
}

TEST_CASE("a column of another length is refused by name and stays with the caller") {
  ad::BatchBuilder builder;
  builder.add("a", std::vector<int32_t>{1, 2, 3});
  ad::TypedArray shorter = ad::make_array(std::vector<int32_t>{1, 2});
  CHECK(refused(EINVAL, [&] { builder.add("b", std::move(shorter)); }) == "column \"b\" has 2 rows, \"a\" has 3");
  CHECK(shorter.array);  // NOLINT(bugprone-use-after-move): it was not taken
  ad::TypedArray away = ad::make_array(std::vector<int32_t>{1, 2, 3}).to_device(ad::Device::find_by_name("ext_dev:0"));
  CHECK(refused(EINVAL, [&] { builder.add("c", std::move(away)); }).find("not on the CPU") != std::string::npos);
  CHECK(refused(EINVAL, [&] { builder.add("d", ad::TypedArray()); }) == "column \"d\" is released");
  CHECK(std::move(builder).build().schema->n_children == 1);
  CHECK(refused(EINVAL, [] { ad::BatchBuilder().build(); }).find("needs a column") != std::string::npos);
}
