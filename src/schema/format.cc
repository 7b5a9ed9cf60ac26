// SPDX-License-Identifier: Apache-2.0
#include "schema/format.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "base/checked.h"
#include "base/error.h"

namespace arrowdevice::schema {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

constexpr Type fixed(int64_t bits) { return {.layout = Layout::kFixed, .bit_width = bits}; }
constexpr Type integer(int64_t bits) { return {.layout = Layout::kFixed, .bit_width = bits, .is_index = true}; }
constexpr Type run_end(int64_t bits) {
  return {.layout = Layout::kFixed, .bit_width = bits, .is_index = true, .is_run_end = true};
}
constexpr Type of(Layout layout) { return {.layout = layout}; }
constexpr Type map() { return {.layout = Layout::kList, .is_map = true}; }

// Returns the text in quotes for messages, shortened, because format strings are not trusted.
std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string out = "\"";
  out += text.substr(0, kLongest);
  out += text.size() > kLongest ? "...\"" : "\"";
  return out;
}

int64_t parse_number(std::string_view text, int64_t least, int64_t most, const char* what) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stopped != end) {
    throw Error(EINVAL, std::string(what) + " is " + in_quotes(text) + ", not a number");
  }
  if (error != std::errc() || value < least || value > most) {
    throw Error(EINVAL, std::string(what) + " is " + in_quotes(text) + ", not between " + std::to_string(least) +
                            " and " + std::to_string(most));
  }
  return value;
}

// Calls `visit(i, part)` for the parts between commas and returns their number, which is at least 1.
template <typename Visit>
int for_each_part(std::string_view list, Visit&& visit) {
  for (int i = 0;; ++i) {
    const size_t comma = list.find(',');
    visit(i, list.substr(0, comma));
    if (comma == std::string_view::npos) return i + 1;
    list.remove_prefix(comma + 1);
  }
}

// Parses the text after the colon of a format.
using ParseArgument = void (*)(std::string_view argument, ParsedFormat& out);

void parse_byte_width(std::string_view argument, ParsedFormat& out) {
  out.type.bit_width = checked_mul(parse_number(argument, 0, kMost, "the width"), 8);
}

void parse_list_size(std::string_view argument, ParsedFormat& out) {
  out.type.list_size = parse_number(argument, 0, kMost, "the list size");
}

// Returns the number of decimal digits that always fit a decimal of `bits` bits, or 0 for widths that no decimal has.
int64_t greatest_precision(int64_t bits) {
  switch (bits) {
    case 32: return 9;
    case 64: return 18;
    case 128: return 38;
    case 256: return 76;
    default: return 0;
  }
}

void parse_decimal(std::string_view argument, ParsedFormat& out) {
  int64_t precision = 0;
  int64_t bits = 128;
  const int n = for_each_part(argument, [&](int i, std::string_view part) {
    if (i == 0) {
      precision = parse_number(part, 1, greatest_precision(256), "the precision");
    } else if (i == 1) {
      parse_number(part, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), "the scale");
    } else if (i == 2) {
      bits = parse_number(part, 1, kMost, "the bit width");
    } else {
      throw Error(EINVAL, "a decimal has a precision, a scale and a bit width, nothing more");
    }
  });
  if (n < 2) throw Error(EINVAL, "a decimal needs a precision and a scale");
  const int64_t most = greatest_precision(bits);
  if (most == 0) throw Error(EINVAL, "the bit width of a decimal is none of 32, 64, 128 and 256");
  if (precision > most) {
    throw Error(EINVAL, "the precision is above " + std::to_string(most) + ", the most that " + std::to_string(bits) +
                            " bits hold");
  }
  out.type.bit_width = bits;
}

// Accepts any text as a time zone. An empty text means no time zone.
void parse_time_zone(std::string_view, ParsedFormat&) {}

void parse_type_ids(std::string_view argument, ParsedFormat& out) {
  UnionMap& map = out.union_map.emplace();
  map.fill(-1);
  if (argument.empty()) return;
  out.n_type_ids = for_each_part(argument, [&](int i, std::string_view part) {
    const int64_t id = parse_number(part, 0, static_cast<int64_t>(map.size()) - 1, "a type id");
    int8_t& child = map[static_cast<size_t>(id)];
    if (child >= 0) throw Error(EINVAL, "the type id " + std::to_string(id) + " is there twice");
    child = static_cast<int8_t>(i);  // ids are unique and below 128, so positions are too
  });
}

struct Known {
  std::string_view head;  // the format, up to its colon if it has one
  Type type;
  ParseArgument parse = nullptr;  // NULL: the format has no colon
};

constexpr Known kKnown[] = {
    {"n", of(Layout::kNull)},
    {"b", fixed(1)},
    {"c", integer(8)},
    {"C", integer(8)},
    {"s", run_end(16)},
    {"S", integer(16)},
    {"i", run_end(32)},
    {"I", integer(32)},
    {"l", run_end(64)},
    {"L", integer(64)},
    {"e", fixed(16)},
    {"f", fixed(32)},
    {"g", fixed(64)},
    {"w", fixed(0), parse_byte_width},
    {"d", fixed(0), parse_decimal},
    {"z", of(Layout::kBinary)},
    {"u", of(Layout::kBinary)},
    {"Z", of(Layout::kLargeBinary)},
    {"U", of(Layout::kLargeBinary)},
    {"vz", of(Layout::kBinaryView)},
    {"vu", of(Layout::kBinaryView)},
    {"tdD", fixed(32)},
    {"tdm", fixed(64)},
    {"tts", fixed(32)},
    {"ttm", fixed(32)},
    {"ttu", fixed(64)},
    {"ttn", fixed(64)},
    {"tss", fixed(64), parse_time_zone},
    {"tsm", fixed(64), parse_time_zone},
    {"tsu", fixed(64), parse_time_zone},
    {"tsn", fixed(64), parse_time_zone},
    {"tDs", fixed(64)},
    {"tDm", fixed(64)},
    {"tDu", fixed(64)},
    {"tDn", fixed(64)},
    {"tiM", fixed(32)},
    {"tiD", fixed(64)},
    {"tin", fixed(128)},
    {"+l", of(Layout::kList)},
    {"+L", of(Layout::kLargeList)},
    {"+vl", of(Layout::kListView)},
    {"+vL", of(Layout::kLargeListView)},
    {"+w", of(Layout::kFixedSizeList), parse_list_size},
    {"+s", of(Layout::kStruct)},
    {"+m", map()},
    {"+ud", of(Layout::kDenseUnion), parse_type_ids},
    {"+us", of(Layout::kSparseUnion), parse_type_ids},
    {"+r", of(Layout::kRunEndEncoded)},
};

constexpr size_t kLongestHead = 3;

// Returns the head as a number that is unique for heads of at most kLongestHead characters. Comparing numbers keeps the
// search fast for schemas with a hundred thousand columns.
constexpr uint32_t key_of(std::string_view head) {
  uint32_t key = 1;
  for (const char c : head) key = key << 8 | static_cast<unsigned char>(c);
  return key;
}

constexpr auto kKeys = [] {
  std::array<uint32_t, std::size(kKnown)> keys{};
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(kKnown[i].head);
  return keys;
}();

constexpr const Type* type_of(std::string_view head) { return &std::ranges::find(kKnown, head, &Known::head)->type; }

constexpr const Type* kList = type_of("+l");
constexpr const Type* kLargeList = type_of("+L");

const Known* find(std::string_view head) {
  if (head.size() > kLongestHead) return nullptr;
  const auto found = std::find(kKeys.begin(), kKeys.end(), key_of(head));
  return found == kKeys.end() ? nullptr : &kKnown[found - kKeys.begin()];
}

}  // namespace

constinit const std::array<const Type*, 256> kTypesByLetter = [] {
  std::array<const Type*, 256> types{};
  for (const Known& known : kKnown) {
    if (known.head.size() == 1 && known.parse == nullptr) types[static_cast<uint8_t>(known.head[0])] = &known.type;
  }
  return types;
}();

constinit const Type& kStructType = *type_of("+s");

constinit const std::array<uint8_t, 256> kBytesByLetter = [] {
  std::array<uint8_t, 256> bytes{};
  for (const Known& known : kKnown) {
    const bool is_letter = known.head.size() == 1 && known.parse == nullptr;
    if (is_letter && known.type.layout == Layout::kFixed) {
      bytes[static_cast<uint8_t>(known.head[0])] = static_cast<uint8_t>(known.type.bit_width / 8);
    }
  }
  return bytes;
}();

[[gnu::hot]] const Type* list_or_wide_type(const char* format, Type* room) noexcept {
  switch (format[0]) {
    case '+':
      if (format[1] == '\0' || format[2] != '\0') return nullptr;
      return format[1] == 'l' ? kList : format[1] == 'L' ? kLargeList : nullptr;
    case 't':
    case 'd':
    case 'w':
      try {
        *room = parse_format(format).type;
        return room;
      } catch (const std::exception&) {
        return nullptr;
      }
    default: return nullptr;
  }
}

ParsedFormat parse_format(std::string_view text) {
  if (text.empty()) throw Error(EINVAL, "the format is empty");
  const size_t colon = text.find(':');
  const bool has_colon = colon != std::string_view::npos;
  const Known* known = find(text.substr(0, colon));
  if (known == nullptr || (has_colon && known->parse == nullptr)) {
    throw Error(ENOTSUP, "the format " + in_quotes(text) + " names no known type");
  }
  ParsedFormat out{.type = known->type, .union_map = {}, .n_type_ids = 0};
  if (known->parse == nullptr) return out;
  if (!has_colon) throw Error(EINVAL, "the format " + in_quotes(text) + " lacks its colon");
  try {
    known->parse(text.substr(colon + 1), out);
  } catch (const Error& error) {
    throw Error(error.code(), "the format " + in_quotes(text) + ": " + error.message());
  }
  return out;
}

}  // namespace arrowdevice::schema
