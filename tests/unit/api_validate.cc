// SPDX-License-Identifier: Apache-2.0
// Tests validation of the data: valid data is accepted on every device, and each fault is reported with its
// path.
#include <array>
#include <numeric>

#include "library.h"
#include "validate_data.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int kFull = ARROWDEVICE_VALIDATE_FULL;
constexpr int kStrict = ARROWDEVICE_VALIDATE_STRICT;

// The devices of these tests: the CPU, a device with addresses and a device with handles.
constexpr int64_t kHost = -1;
constexpr int64_t kPlaces[] = {kHost, 0, 2};

Array put(const Sample& sample, int64_t place) { return copy(sample, place == kHost ? cpu() : sim(place)); }

TEST_CASE("arrays of every layout are valid on the host and on each device") {
  begin();
  for (const HostCase& one : all_cases()) {
    INFO(one.name);
    Sample sample(one.type, one.knobs);
    // Strict validation rejects a null count of -1 without a bitmap. It accepts the library's copy, which has
    // the count.
    const bool is_counted = one.knobs.nulls != Nulls::kNoneUncounted;
    must(arrowdevice_array_validate, sample.host.get(), sample.schema.get(), nullptr, is_counted ? kStrict : kFull);
    for (const int64_t place : {int64_t{0}, int64_t{2}}) {
      INFO("on device " << place);
      const Array there = put(sample, place);
      must(arrowdevice_array_validate, there.get(), sample.schema.get(), nullptr, kFull);
      must(arrowdevice_array_validate, there.get(), sample.schema.get(), sim(place), kStrict);
    }
  }
}

TEST_CASE("slices of arrays are valid on the host and on each device") {
  begin();
  for (const HostCase& one : few_cases()) {
    Sample sample(one.type, one.knobs);
    for (const int64_t place : kPlaces) {
      INFO(one.name << " on device " << place);
      Array whole = put(sample, place);
      const int64_t rows = whole->array.length;
      const Array part = slice(*whole, *sample.schema, rows / 3, rows / 2);
      must(arrowdevice_array_validate, part.get(), sample.schema.get(), nullptr, kStrict);
    }
  }
}

// Writes into a buffer on any device.
using Write = std::function<void(const void* buffer, int64_t offset, const void* bytes, size_t size)>;

struct Fault {
  const char* what;
  std::string place;  // in the message
  Field type;
  Data data;
  std::function<void(ArrowArray&, const Write&)> spoil;
};

// Returns a function that writes one value at a position of a buffer.
template <typename Value>
auto writes(size_t buffer, int64_t position, Value value) {
  return [=](ArrowArray& array, const Write& write) {
    write(array.buffers[buffer], position * static_cast<int64_t>(sizeof value), &value, sizeof value);
  };
}

Data with_dictionary(Data indices, Data values) {
  indices.dictionary = std::make_shared<Data>(std::move(values));
  return indices;
}

std::vector<Fault> faults() {
  const auto child_write = [](size_t child, auto write) {
    return [=](ArrowArray& array, const Write& how) { write(*array.children[child], how); };
  };
  const Field dense = dense_union_of("4,9", {field("c"), field("c")});
  const Data dense_data =
      data_of(3, {buffer_of<int8_t>({4, 9, 4}), buffer_of<int32_t>({0, 0, 1})}, {items({1, 2}), items({3})});
  const Field sparse = sparse_union_of("4,9", {field("c"), field("c")});
  const Data sparse_data = data_of(3, {buffer_of<int8_t>({4, 9, 4})}, {items({1, 2, 3}), items({4, 5, 6})});
  const Field list = list_of(field("c"));
  const Data list_data = data_of(2, {no_buffer(), buffer_of<int32_t>({0, 1, 3})}, {items({1, 2, 3})});
  const Data large_list_data = data_of(2, {no_buffer(), buffer_of<int64_t>({0, 1, 3})}, {items({1, 2, 3})});
  const Data list_view_data =
      data_of(2, {no_buffer(), buffer_of<int32_t>({0, 1}), buffer_of<int32_t>({1, 2})}, {items({1, 2, 3})});
  const Field view = field("vu");
  const Data view_data = views({kFirstView, kSecondView}, kTwoTexts);
  const Field runs = run_end_encoded("i", field("c"));
  const Data nulls = with_nulls(1, data_of(3, {buffer_of<uint8_t>({0b101}), buffer_of<int8_t>({1, 2, 3})}));
  return {
      {"an offset before the first byte", "array: slot 0 has offset -1", field("z"), bytes_of_three("abcdef", 2, 4),
       writes<int32_t>(1, 0, -1)},
      {"offsets that run backwards", "array: slot 2 has offset 1, less than 2 before it", field("z"),
       bytes_of_three("abcdef", 2, 4), writes<int32_t>(1, 2, 1)},
      {"a list beyond its items", "array: slot 2 has offset 4, and there are 3 items", list, list_data,
       writes<int32_t>(1, 2, 4)},
      {"a large list far beyond its items", "array: slot 2 has offset 4611686018427387904", large_list_of(field("c")),
       large_list_data, writes<int64_t>(1, 2, int64_t{1} << 62)},
      {"offsets of a child", "batch.f0: slot 1 has offset 9", struct_of({list}), data_of(2, {no_buffer()}, {list_data}),
       child_write(0, writes<int32_t>(1, 1, 9))},
      {"a list view beyond its items", "array: slot 1 has offset 2 and size 2, and there are 3 items",
       list_view_of(field("c")), list_view_data, writes<int32_t>(1, 1, 2)},
      {"a list view of a negative size", "array: slot 0 has offset 0 and size -1", list_view_of(field("c")),
       list_view_data, writes<int32_t>(2, 0, -1)},
      {"a byte that is in no text", "array: slot 1 is not UTF-8", field("u"), bytes_of_three("abcdef", 2, 4),
       writes<uint8_t>(2, 3, 0xFF)},
      {"a text that ends within a character", "array: slot 0 is not UTF-8", field("u"),
       bytes_of_three("a\xC3\xA9"
                      "bcd",
                      3, 4),
       writes<int32_t>(1, 1, 2)},
      {"eight letters within a character", "array: slot 0 is not UTF-8", field("u"),
       bytes_of_three("0123456789", 10, 10),
       writes<std::array<char, 10>>(2, 0, {'\xC3', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', '\xA9'})},
      {"an overlong character", "array: slot 2 is not UTF-8", field("u"), bytes_of_three("abc\xE1\x80\x80", 1, 3),
       writes<uint8_t>(2, 3, 0xE0)},
      {"a surrogate", "array: slot 2 is not UTF-8", field("u"), bytes_of_three("abc\xED\x80\x80", 1, 3),
       writes<uint8_t>(2, 4, 0xA0)},
      {"a type id that the union does not have", "array: slot 1 has type id 5, which the type does not name", dense,
       dense_data, writes<int8_t>(0, 1, 5)},
      {"a negative type id", "array: slot 2 has type id -4", sparse, sparse_data, writes<int8_t>(0, 2, -4)},
      {"a union's offset beyond its child", "array: slot 2 has offset 2, and child 0 has length 2", dense, dense_data,
       writes<int32_t>(1, 2, 2)},
      {"a union's negative offset", "array: slot 1 has offset -1, and child 1 has length 1", dense, dense_data,
       writes<int32_t>(1, 1, -1)},
      {"runs that do not grow", "array.run_ends: slot 1 ends at 2, and the run before it at 2", runs,
       run_ends({2, 4, 6}, 6), child_write(0, writes<int32_t>(1, 1, 2))},
      {"an empty first run", "array.run_ends: slot 0 ends at 0", runs, run_ends({2, 4, 6}, 6),
       child_write(0, writes<int32_t>(1, 0, 0))},
      {"runs that end too early", "array: the runs end at 5, and the array reaches 6", runs, run_ends({2, 4, 6}, 6),
       child_write(0, writes<int32_t>(1, 2, 5))},
      {"a dictionary's index behind its values", "array: slot 2 has index 2, and the dictionary 2 values",
       dictionary_of("s", field("c")),
       with_dictionary(data_of(3, {no_buffer(), buffer_of<int16_t>({0, 1, 0})}), items({7, 8})),
       writes<int16_t>(1, 2, 2)},
      {"a dictionary's negative index", "array: slot 0 has index -1", dictionary_of("c", field("c")),
       with_dictionary(items({0, 1, 0}), items({7, 8})), writes<int8_t>(1, 0, -1)},
      {"a dictionary's index of 255", "array: slot 0 has index 255", dictionary_of("C", field("c")),
       with_dictionary(items({0, 1, 0}), items({7, 8})), writes<uint8_t>(1, 0, 255)},
      {"a dictionary's index of 64 bits", "array: slot 1 has index 9223372036854775807", dictionary_of("L", field("c")),
       with_dictionary(data_of(2, {no_buffer(), buffer_of<uint64_t>({0, 1})}), items({7, 8})),
       writes<uint64_t>(1, 1, UINT64_MAX)},
      {"a view of a negative length", "array: slot 1 has length -15", view, view_data, writes<int32_t>(1, 4, -15)},
      {"a binary view of a negative length", "array: slot 1 has length -15", field("vz"), view_data,
       writes<int32_t>(1, 4, -15)},
      {"a view into a buffer that is not there", "array: slot 1 is in buffer 1, and there are 1", view, view_data,
       writes<int32_t>(1, 6, 1)},
      {"a view beyond its buffer", "array: slot 1 has offset 15 and length 15, and buffer 0 has 29 bytes", view,
       view_data, writes<int32_t>(1, 7, 15)},
      {"a view before its buffer", "array: slot 0 has offset -1 and length 14", view, view_data,
       writes<int32_t>(1, 3, -1)},
      {"a prefix that is not its data's", "array: slot 0 has a prefix that its data does not begin with", view,
       view_data, writes<char>(2, 3, 'x')},
      {"a later prefix that is not its data's", "array: slot 1 has a prefix that its data does not begin with", view,
       view_data, writes<char>(2, 14, 'x')},
      {"a long text that is none", "array: slot 1 is not UTF-8", view, view_data, writes<uint8_t>(2, 28, 0xC3)},
      {"a short text that is none", "array: slot 0 is not UTF-8", view, views({{2, {'o', 'k', 0, 0}, 0, 0}}, ""),
       writes<uint8_t>(1, 5, 0x80)},
      {"bytes behind a short text", "array: slot 0 is inline, and bytes behind it are not zero", view,
       views({{2, {'o', 'k', 0, 0}, 0, 0}}, ""), writes<uint8_t>(1, 6, 1)},
      {"one null too many", "array: null_count is 1, and the validity bitmap has 2 nulls", field("c"), nulls,
       writes<uint8_t>(0, 0, 0b100)},
      {"no null at all", "array: null_count is 2, and the validity bitmap has 1 null", field("c"), nulls,
       [](ArrowArray& array, const Write&) { array.null_count = 2; }},
  };
}

TEST_CASE("validation reports each inconsistency with its path, on host and devices") {
  begin();
  for (const Fault& fault : faults()) {
    const auto schema = make_schema(fault.type);
    for (const int64_t place : kPlaces) {
      INFO(fault.what << " on device " << place);
      Array array = from_host(make_array(fault.data, Ledger()));
      if (place != kHost) array = copy(*array, *schema, sim(place));
      must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, kFull);
      fault.spoil(array->array, [&](const void* buffer, int64_t offset, const void* bytes, size_t size) {
        if (place == kHost) {
          std::memcpy(static_cast<char*>(const_cast<void*>(buffer)) + offset, bytes, size);
        } else {
          control::poke(place, const_cast<void*>(buffer), offset, bytes, static_cast<int64_t>(size));
        }
      });
      for (const int level : {kFull, kStrict}) {
        must_fail_saying(EINVAL, fault.place, arrowdevice_array_validate, array.get(), schema.get(), nullptr, level);
      }
      must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, ARROWDEVICE_VALIDATE_STRUCTURE);
      // An import fails with the same message, and its caller keeps the array.
      auto options = import_options();
      options.timeout_ns = ARROWDEVICE_NO_TIMEOUT;
      options.validate = kFull;
      arrowdevice_view* view = nullptr;
      must_fail_saying(EINVAL, fault.place, arrowdevice_array_import, array.get(), schema.get(), &options, &view);
      CHECK(view == nullptr);
      CHECK(!array.released());
    }
  }
}

TEST_CASE("validation refuses a null among run ends") {
  begin();
  const auto schema = make_schema(run_end_encoded("i", field("c")));
  for (const int64_t null_count : {0, -1}) {
    Data data = run_ends({2, 4, 6}, 6);
    data.children[0].buffers[0] = buffer_of<uint8_t>({0b101});
    data.children[0].null_count = null_count;
    const Array array = from_host(make_array(std::move(data), Ledger()));
    must_fail_saying(EINVAL, "array.run_ends: run ends have no nulls, and these have 1", arrowdevice_array_validate,
                     array.get(), schema.get(), nullptr, kFull);
  }
}

TEST_CASE("validation refuses a view beyond the size of its buffer, within larger memory") {
  begin();
  const auto schema = make_schema(field("vu"));
  Data data = views({kFirstView, kSecondView}, kTwoTexts);
  data.buffers[3] = buffer_of<int64_t>({28});
  const Array array = from_host(make_array(std::move(data), Ledger()));
  must_fail_saying(EINVAL, "array: slot 1 has offset 14 and length 15, and buffer 0 has 28 bytes",
                   arrowdevice_array_validate, array.get(), schema.get(), nullptr, kFull);
}

TEST_CASE("validation ignores values under nulls") {
  begin();
  const uint8_t kMiddleIsNull = 0b101;
  const auto null_in_the_middle = [&](Data data) {
    data.buffers[0] = buffer_of<uint8_t>({kMiddleIsNull});
    return with_nulls(1, std::move(data));
  };
  const std::vector<std::pair<Field, Data>> arrays = {
      {dictionary_of("c", field("c")), with_dictionary(null_in_the_middle(items({0, -5, 1})), items({7, 8}))},
      {field("u"), null_in_the_middle(bytes_of_three("ab\xFF\xFFyz", 2, 4))},
      {list_view_of(field("c")),
       null_in_the_middle(data_of(3, {no_buffer(), buffer_of<int32_t>({0, -7, 1}), buffer_of<int32_t>({1, 9, 2})},
                                  {items({1, 2, 3})}))},
      {field("vu"), null_in_the_middle(views({kFirstView, {-1, {}, 7, -7}, kSecondView}, kTwoTexts))},
  };
  for (const auto& [type, data] : arrays) {
    const auto schema = make_schema(type);
    INFO(type.format);
    const Array array = from_host(make_array(data, Ledger()));
    must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, kStrict);
    const Array there = copy(*array, *schema, sim(0), ARROWDEVICE_COPY_NO_TRIM);
    must(arrowdevice_array_validate, there.get(), schema.get(), nullptr, kStrict);
  }
}

TEST_CASE("strict validation refuses visible nulls of a field that is not nullable") {
  begin();
  Data inner = with_nulls(1, data_of(3, {buffer_of<uint8_t>({0b101}), buffer_of<int8_t>({1, 2, 3})}));
  const auto schema = make_schema(struct_of({field("c", "a").not_null()}));
  const Data seen = data_of(3, {no_buffer()}, {inner});
  const Data hidden = with_nulls(1, data_of(3, {buffer_of<uint8_t>({0b101})}, {inner}));
  for (const int64_t place : kPlaces) {
    INFO("on device " << place);
    const auto put_there = [&](const Data& data) {
      Array array = from_host(make_array(data, Ledger()));
      return place == kHost ? std::move(array) : copy(*array, *schema, sim(place));
    };
    const Array wrong = put_there(seen);
    must(arrowdevice_array_validate, wrong.get(), schema.get(), nullptr, kFull);
    must_fail_saying(EINVAL, "batch.a: slot 1 is null, and the field is not nullable", arrowdevice_array_validate,
                     wrong.get(), schema.get(), nullptr, kStrict);
    const Array right = put_there(hidden);
    must(arrowdevice_array_validate, right.get(), schema.get(), nullptr, kStrict);
  }
}

TEST_CASE("strict validation refuses an unknown null_count without a bitmap to count") {
  begin();
  const auto uncounted = [](Data data) {
    data.null_count = -1;
    return data;
  };
  const Data column = uncounted(data_of(2, {no_buffer(), buffer_of<int8_t>({1, 2})}));
  const auto schema = make_schema(struct_of({field("c", "a")}));
  const Array array = from_host(make_array(data_of(2, {no_buffer()}, {column}), Ledger()));
  must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, kFull);
  must_fail_saying(EINVAL, "batch.a: null_count is -1", arrowdevice_array_validate, array.get(), schema.get(), nullptr,
                   kStrict);
  // The library's copy has the count, because an array without a bitmap has no nulls.
  const Array there = copy(*array, *schema, sim(0));
  must(arrowdevice_array_validate, there.get(), schema.get(), nullptr, kStrict);
  must(arrowdevice_array_validate, copy(*there, *schema, cpu()).get(), schema.get(), nullptr, kStrict);

  const auto alone = make_schema(field("c"));
  const Array counted =
      from_host(make_array(uncounted(data_of(2, {buffer_of<uint8_t>({0b11}), buffer_of<int8_t>({1, 2})})), Ledger()));
  must(arrowdevice_array_validate, counted.get(), alone.get(), nullptr, kStrict);
  const auto type_null = make_schema(field("n"));
  const Array no_layout = from_host(make_array(uncounted(data_of(2, {})), Ledger()));
  must(arrowdevice_array_validate, no_layout.get(), type_null.get(), nullptr, kStrict);
}

TEST_CASE("strict validation refuses visible nulls of list items that are not nullable") {
  begin();
  const Data third_is_null = with_nulls(1, data_of(4, {buffer_of<uint8_t>({0b1011}), buffer_of<int8_t>({1, 2, 3, 4})}));
  constexpr int64_t kMany = (1 << 20) + 2;  // in two pieces
  Buffer third_bit_is_clear;
  third_bit_is_clear.bytes.resize(kMany / 8 + 1, 0xFF);
  third_bit_is_clear.bytes[0] = 0xFB;
  Buffer many;
  many.bytes.resize(kMany);
  const Data third_of_many_is_null = with_nulls(1, data_of(kMany, {third_bit_is_clear, many}));
  struct Lists {
    const char* what;
    Field type;
    Data data;
    bool is_seen;
  };
  const Field fixed = fixed_size_list_of(2, field("c", "item").not_null());
  const Field list = list_of(field("c", "item").not_null());
  const Lists all[] = {
      {"two valid rows", fixed, data_of(2, {no_buffer()}, {third_is_null}), true},
      {"a null row", fixed, with_nulls(1, data_of(2, {buffer_of<uint8_t>({0b01})}, {third_is_null})), false},
      {"behind the last row", fixed, data_of(1, {no_buffer()}, {third_is_null}), false},
      {"a million items behind the last row", fixed, data_of(1, {no_buffer()}, {third_of_many_is_null}), false},
      {"lists of all items", list, data_of(2, {no_buffer(), buffer_of<int32_t>({0, 1, 4})}, {third_is_null}), true},
      {"a null list", list,
       with_nulls(1, data_of(2, {buffer_of<uint8_t>({0b01}), buffer_of<int32_t>({0, 1, 4})}, {third_is_null})), false},
      {"lists of the first items", list, data_of(2, {no_buffer(), buffer_of<int32_t>({0, 1, 2})}, {third_is_null}),
       false},
      // For these types, validation does not search for references to the null item.
      {"a list view", list_view_of(field("c", "item").not_null()),
       data_of(1, {no_buffer(), buffer_of<int32_t>({0}), buffer_of<int32_t>({4})}, {third_is_null}), false},
      {"a dense union", dense_union_of("7", {field("c", "item").not_null()}),
       data_of(1, {buffer_of<uint8_t>({7}), buffer_of<int32_t>({2})}, {third_is_null}), false},
  };
  for (const auto& one : all) {
    INFO(one.what);
    const auto schema = make_schema(one.type);
    const Array array = from_host(make_array(one.data, Ledger()));
    must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, kFull);
    if (!one.is_seen) {
      must(arrowdevice_array_validate, array.get(), schema.get(), nullptr, kStrict);
    } else {
      must_fail_saying(EINVAL, "array.item: slot 2 is null, and the field is not nullable", arrowdevice_array_validate,
                       array.get(), schema.get(), nullptr, kStrict);
    }
  }
}

TEST_CASE("validation reads data in pieces up to its end") {
  begin();
  constexpr int64_t kRows = 700'000;
  const std::string character = "\xE2\x82\xAC";  // three bytes, so that pieces end within it
  std::string all;
  for (int64_t i = 0; i < kRows; ++i) all += character;
  std::vector<int32_t> offsets(kRows + 1);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int32_t>(3 * i);
  Buffer offsets_buffer;
  offsets_buffer.bytes.resize(offsets.size() * 4);
  std::memcpy(offsets_buffer.bytes.data(), offsets.data(), offsets_buffer.bytes.size());
  const auto size = static_cast<int32_t>(all.size());
  const LongView whole{size, {'\xE2', '\x82', '\xAC', '\xE2'}, 0, 0};
  std::vector<LongView> many(150'000, {15, {'\xE2', '\x82', '\xAC', '\xE2'}, 0, 0});
  many.back().offset = size - 15;
  Buffer views_buffer;
  views_buffer.bytes.resize(many.size() * sizeof(LongView));
  std::memcpy(views_buffer.bytes.data(), many.data(), views_buffer.bytes.size());
  struct Large {
    const char* what;
    Field type;
    Data data;
    size_t text_buffer;
    std::string place;
  };
  const Large large[] = {
      {"many texts", field("u"), data_of(kRows, {no_buffer(), offsets_buffer, text(all)}), 2,
       "array: slot 699999 is not UTF-8"},
      {"one text", field("U"), data_of(1, {no_buffer(), buffer_of<int64_t>({0, size}), text(all)}), 2,
       "array: slot 0 is not UTF-8"},
      {"one view", field("vu"),
       data_of(1, {no_buffer(), buffer_of<LongView>({whole}), text(all), buffer_of<int64_t>({size})}), 2,
       "array: slot 0 is not UTF-8"},
      {"many views", field("vu"),
       data_of(static_cast<int64_t>(many.size()), {no_buffer(), views_buffer, text(all), buffer_of<int64_t>({size})}),
       2, "array: slot 149999 is not UTF-8"},
  };
  for (const auto& one : large) {
    const auto schema = make_schema(one.type);
    const Array host = from_host(make_array(one.data, Ledger()));
    must(arrowdevice_array_validate, host.get(), schema.get(), nullptr, kStrict);
    for (const int64_t place : {int64_t{0}, int64_t{2}}) {
      INFO(one.what << " on device " << place);
      const Array there = copy(*host, *schema, sim(place));
      must(arrowdevice_array_validate, there.get(), schema.get(), nullptr, kStrict);
      const uint8_t spoiled = 0x41;
      control::poke(place, const_cast<void*>(there->array.buffers[one.text_buffer]), size - 1, &spoiled, 1);
      must_fail_saying(EINVAL, one.place, arrowdevice_array_validate, there.get(), schema.get(), nullptr, kFull);
    }
  }
}

}  // namespace
