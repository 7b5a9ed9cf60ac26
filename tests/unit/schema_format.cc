// SPDX-License-Identifier: Apache-2.0
#include "schema/format.h"

#include <cerrno>
#include <cstdint>

#include "schema_refusal.h"
#include "support/catch.h"

namespace arrowdevice::schema {
namespace {

Refusal refusal_of(std::string_view format) {
  return refusal_by([&] { parse_format(format); });
}

std::string list_of_ids(int first, int n) {
  std::string list;
  for (int i = 0; i < n; ++i) list += (i == 0 ? "" : ",") + std::to_string(first + i);
  return list;
}

}  // namespace

TEST_CASE("fixed-width formats have their width in bits") {
  struct {
    const char* format;
    int64_t bit_width;
  } const table[] = {
      {"b", 1},
      {"c", 8},
      {"C", 8},
      {"s", 16},
      {"S", 16},
      {"i", 32},
      {"I", 32},
      {"l", 64},
      {"L", 64},
      {"e", 16},
      {"f", 32},
      {"g", 64},
      {"w:0", 0},
      {"w:1", 8},
      {"w:42", 336},
      {"w:1152921504606846975", 9223372036854775800},
      {"d:10,2", 128},
      {"d:9,2,32", 32},
      {"d:18,2,64", 64},
      {"d:38,2,128", 128},
      {"d:76,2,256", 256},
      {"tdD", 32},
      {"tdm", 64},
      {"tts", 32},
      {"ttm", 32},
      {"ttu", 64},
      {"ttn", 64},
      {"tss:", 64},
      {"tsm:", 64},
      {"tsu:", 64},
      {"tsn:", 64},
      {"tss:Europe/Paris", 64},
      {"tsn:+01:00", 64},
      {"tDs", 64},
      {"tDm", 64},
      {"tDu", 64},
      {"tDn", 64},
      {"tiM", 32},
      {"tiD", 64},
      {"tin", 128},
  };
  for (const auto& expected : table) {
    CAPTURE(expected.format);
    const ParsedFormat parsed = parse_format(expected.format);
    CHECK(parsed.type.layout == Layout::kFixed);
    CHECK(parsed.type.bit_width == expected.bit_width);
    CHECK(parsed.type.list_size == 0);
    CHECK_FALSE(parsed.type.is_map);
    CHECK_FALSE(parsed.union_map);
    CHECK(parsed.n_type_ids == 0);
  }
}

TEST_CASE("formats without fixed-width values have their layout and no width") {
  struct {
    const char* format;
    Layout layout;
    int64_t list_size;
  } const table[] = {
      {"n", Layout::kNull, 0},
      {"z", Layout::kBinary, 0},
      {"u", Layout::kBinary, 0},
      {"Z", Layout::kLargeBinary, 0},
      {"U", Layout::kLargeBinary, 0},
      {"vz", Layout::kBinaryView, 0},
      {"vu", Layout::kBinaryView, 0},
      {"+l", Layout::kList, 0},
      {"+L", Layout::kLargeList, 0},
      {"+vl", Layout::kListView, 0},
      {"+vL", Layout::kLargeListView, 0},
      {"+w:0", Layout::kFixedSizeList, 0},
      {"+w:3", Layout::kFixedSizeList, 3},
      {"+w:9223372036854775807", Layout::kFixedSizeList, INT64_MAX},
      {"+s", Layout::kStruct, 0},
      {"+m", Layout::kList, 0},
      {"+ud:", Layout::kDenseUnion, 0},
      {"+us:", Layout::kSparseUnion, 0},
      {"+r", Layout::kRunEndEncoded, 0},
  };
  for (const auto& expected : table) {
    CAPTURE(expected.format);
    const Type type = parse_format(expected.format).type;
    CHECK(type.layout == expected.layout);
    CHECK(type.bit_width == 0);
    CHECK(type.list_size == expected.list_size);
    CHECK(type.is_map == (std::string(expected.format) == "+m"));
    CHECK_FALSE(type.is_index);
    CHECK_FALSE(type.is_run_end);
  }
}

TEST_CASE("integers can be indices, and signed integers of 16 to 64 bits can be run ends") {
  for (const std::string format : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
    CAPTURE(format);
    const Type type = parse_format(format).type;
    CHECK(type.is_index);
    CHECK(type.is_run_end == (format == "s" || format == "i" || format == "l"));
  }
  for (const char* format : {"b", "e", "f", "g", "w:4", "d:9,0,32", "tdD", "tts", "tss:", "tDs", "tiM"}) {
    CAPTURE(format);
    CHECK_FALSE(parse_format(format).type.is_index);
    CHECK_FALSE(parse_format(format).type.is_run_end);
  }
}

TEST_CASE("a union format maps each type id to the position of its child") {
  for (const std::string head : {"+ud:", "+us:"}) {
    const ParsedFormat parsed = parse_format(head + "5,0,127");
    CHECK(parsed.n_type_ids == 3);
    REQUIRE(parsed.union_map);
    for (size_t id = 0; id < 128; ++id) {
      CAPTURE(head, id);
      CHECK((*parsed.union_map)[id] == (id == 5 ? 0 : id == 0 ? 1 : id == 127 ? 2 : -1));
    }
    CHECK(parsed.type.union_map == -1);
  }
}

TEST_CASE("a union format may name no type id, and all 128 of them") {
  const ParsedFormat none = parse_format("+ud:");
  CHECK(none.n_type_ids == 0);
  REQUIRE(none.union_map);
  CHECK((*none.union_map)[0] == -1);

  const ParsedFormat all = parse_format("+us:" + list_of_ids(0, 128));
  CHECK(all.n_type_ids == 128);
  REQUIRE(all.union_map);
  CHECK((*all.union_map)[0] == 0);
  CHECK((*all.union_map)[127] == 127);
}

TEST_CASE("the scale of a decimal may be negative and above its precision") {
  CHECK(refusal_of("d:5,-3").code == 0);
  CHECK(refusal_of("d:5,7").code == 0);
  CHECK(refusal_of("d:1,-2147483648,256").code == 0);
}

TEST_CASE("malformed formats are EINVAL") {
  const char* const formats[] = {
      "",
      // These formats lack a colon.
      "w",
      "d",
      "tss",
      "tsm",
      "tsu",
      "tsn",
      "+w",
      "+ud",
      "+us",
      // These formats have an invalid number.
      "w:",
      "w:-1",
      "w: 1",
      "w:1 ",
      "w:+1",
      "w:0x10",
      "w:4x",
      "w:1.5",
      "w:99999999999999999999",
      "w:9223372036854775808",
      "w:1152921504606846976",
      "w:9223372036854775807",
      "+w:",
      "+w:-1",
      "+w:x",
      "+w:9223372036854775808",
      "w:1:2",
      // These decimals have invalid numbers.
      "d:",
      "d:10",
      "d:,",
      "d:10,",
      "d:,2",
      "d:10,2,",
      "d:10,2,128,0",
      "d:0,2",
      "d:-1,2",
      "d:39,2",
      "d:39,2,128",
      "d:10,2,32",
      "d:19,2,64",
      "d:77,2,256",
      "d:10,2,0",
      "d:10,2,-128",
      "d:10,2,16",
      "d:10,2,127",
      "d:10,2,512",
      "d:10,2147483648",
      "d:10,-2147483649",
      "d:99999999999999999999,0",
      "d:10,99999999999999999999",
      "d:10,2,99999999999999999999",
      "d:10;2",
      "d:a,b",
      // These unions have invalid type ids.
      "+ud:128",
      "+us:-1",
      "+ud:0,1,0",
      "+us:5,5",
      "+ud:,",
      "+ud:0,",
      "+us:,0",
      "+ud:0,,1",
      "+ud:a",
      "+ud:0 ,1",
      "+us:99999999999999999999",
      "+ud:0:1",
  };
  for (const char* format : formats) {
    CAPTURE(format);
    CHECK(refusal_of(format).code == EINVAL);
  }
  CHECK(refusal_of("+ud:" + list_of_ids(0, 129)).code == EINVAL);
}

TEST_CASE("formats that name no known type are ENOTSUP") {
  const char* const formats[] = {
      "x",  "N",     "ii",   "nn",  "i:",   "n:",   "+s:",  "b:1", "v",   "vx",  "+",    "+x",      "+v",       "+vs",
      "+u", "+ux:0", "t",    "td",  "tdx",  "tsx:", "ts:",  "ttx", "tDx", "tix", "ws:3", "+wl:3",   " i",       "i ",
      ":",  ":3",    "+l+l", "W:3", "\xff", "\n",   "tss+", "+rr", "vzz", "zu",  "utf8", "\x01tiM", "z\x01tiM",
  };
  for (const char* format : formats) {
    CAPTURE(format);
    CHECK(refusal_of(format).code == ENOTSUP);
  }
  CHECK(refusal_of(std::string_view("\0i", 2)).code == ENOTSUP);
  CHECK(refusal_of(std::string_view("i\0", 2)).code == ENOTSUP);
}

TEST_CASE("a refusal of a format quotes it and says why") {
  CHECK(refusal_of("w:-1").message ==
        "the format \"w:-1\": the width is \"-1\", not between 0 and 9223372036854775807");
  CHECK(refusal_of("tss").message == "the format \"tss\" lacks its colon");
  CHECK(refusal_of("+x").message == "the format \"+x\" names no known type");
  CHECK(refusal_of("+ud:3,4,3").message == "the format \"+ud:3,4,3\": the type id 3 is there twice");
  CHECK(refusal_of("d:20,2,64").message ==
        "the format \"d:20,2,64\": the precision is above 18, the most that 64 bits hold");
}

TEST_CASE("a refusal of an endless format quotes its beginning only") {
  const std::string message = refusal_of("w:" + std::string(1 << 20, '9')).message;
  CHECK(message.size() < 250);
  CHECK(message.find("\"w:99999") != std::string::npos);
  CHECK(refusal_of(std::string(1 << 20, 'x')).message.size() < 100);
}

}  // namespace arrowdevice::schema
