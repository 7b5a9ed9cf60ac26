// SPDX-License-Identifier: Apache-2.0
#include "ipc/types.h"

#include <arrowdevice/abi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <iterator>

#include "base/error.h"

namespace arrowdevice::ipc {
namespace {

enum class Width : uint8_t { kFlag, kShort, kInt };

// A number in a type's table, from slot 0 on.
struct Parameter {
  Width width;
  int32_t fallback;  // the value of a parameter that is left out
};

struct Parameters {
  static constexpr size_t kMost = 3;
  TypeTag tag;
  const char* name;
  size_t n;
  std::array<Parameter, kMost> of;
};

using Values = std::array<int32_t, Parameters::kMost>;

// The parameters of all types that have numbers.
constexpr Parameters kParameters[] = {
    {TypeTag::kInt, "Int", 2, {{{Width::kInt, 0}, {Width::kFlag, 0}}}},     // bit width, is signed
    {TypeTag::kFloatingPoint, "FloatingPoint", 1, {{{Width::kShort, 0}}}},  // precision
    {TypeTag::kDecimal, "Decimal", 3, {{{Width::kInt, 0}, {Width::kInt, 0}, {Width::kInt, 128}}}},  // and scale, bits
    {TypeTag::kDate, "Date", 1, {{{Width::kShort, 1}}}},                                            // unit
    {TypeTag::kTime, "Time", 2, {{{Width::kShort, 1}, {Width::kInt, 32}}}},                         // unit, bit width
    {TypeTag::kTimestamp, "Timestamp", 1, {{{Width::kShort, 0}}}},                                  // unit
    {TypeTag::kInterval, "Interval", 1, {{{Width::kShort, 0}}}},                                    // unit
    {TypeTag::kUnion, "Union", 1, {{{Width::kShort, 0}}}},                                          // mode
    {TypeTag::kFixedSizeBinary, "FixedSizeBinary", 1, {{{Width::kInt, 0}}}},                        // bytes
    {TypeTag::kFixedSizeList, "FixedSizeList", 1, {{{Width::kInt, 0}}}},                            // items
    {TypeTag::kMap, "Map", 1, {{{Width::kFlag, 0}}}},                                               // keys are sorted
    {TypeTag::kDuration, "Duration", 1, {{{Width::kShort, 1}}}},                                    // unit
};

constexpr Parameters kNoParameters{.tag = {}, .name = "", .n = 0, .of = {}};

const Parameters& parameters_of(TypeTag tag) {
  const auto* const found = std::ranges::find(kParameters, tag, &Parameters::tag);
  return found == std::end(kParameters) ? kNoParameters : *found;
}

// The text behind the colon of a format, or the flag in its place.
enum class Argument : uint8_t { kNone, kNumbers, kDecimal, kTimeZone, kTypeIds, kKeysSorted };

// A format up to its colon, and its type in IPC. The first parameters are fixed by the format.
struct Known {
  std::string_view head;
  TypeTag tag;
  size_t n_fixed = 0;
  Values fixed = {};
  Argument argument = Argument::kNone;
};

constexpr Known kKnown[] = {
    {"n", TypeTag::kNull},
    {"b", TypeTag::kBool},
    {"c", TypeTag::kInt, 2, {8, 1}},
    {"C", TypeTag::kInt, 2, {8, 0}},
    {"s", TypeTag::kInt, 2, {16, 1}},
    {"S", TypeTag::kInt, 2, {16, 0}},
    {"i", TypeTag::kInt, 2, {32, 1}},
    {"I", TypeTag::kInt, 2, {32, 0}},
    {"l", TypeTag::kInt, 2, {64, 1}},
    {"L", TypeTag::kInt, 2, {64, 0}},
    {"e", TypeTag::kFloatingPoint, 1, {0}},
    {"f", TypeTag::kFloatingPoint, 1, {1}},
    {"g", TypeTag::kFloatingPoint, 1, {2}},
    {"w", TypeTag::kFixedSizeBinary, 0, {}, Argument::kNumbers},
    {"d", TypeTag::kDecimal, 0, {}, Argument::kDecimal},
    {"z", TypeTag::kBinary},
    {"u", TypeTag::kUtf8},
    {"Z", TypeTag::kLargeBinary},
    {"U", TypeTag::kLargeUtf8},
    {"vz", TypeTag::kBinaryView},
    {"vu", TypeTag::kUtf8View},
    {"tdD", TypeTag::kDate, 1, {0}},
    {"tdm", TypeTag::kDate, 1, {1}},
    {"tts", TypeTag::kTime, 2, {0, 32}},
    {"ttm", TypeTag::kTime, 2, {1, 32}},
    {"ttu", TypeTag::kTime, 2, {2, 64}},
    {"ttn", TypeTag::kTime, 2, {3, 64}},
    {"tss", TypeTag::kTimestamp, 1, {0}, Argument::kTimeZone},
    {"tsm", TypeTag::kTimestamp, 1, {1}, Argument::kTimeZone},
    {"tsu", TypeTag::kTimestamp, 1, {2}, Argument::kTimeZone},
    {"tsn", TypeTag::kTimestamp, 1, {3}, Argument::kTimeZone},
    {"tDs", TypeTag::kDuration, 1, {0}},
    {"tDm", TypeTag::kDuration, 1, {1}},
    {"tDu", TypeTag::kDuration, 1, {2}},
    {"tDn", TypeTag::kDuration, 1, {3}},
    {"tiM", TypeTag::kInterval, 1, {0}},
    {"tiD", TypeTag::kInterval, 1, {1}},
    {"tin", TypeTag::kInterval, 1, {2}},
    {"+l", TypeTag::kList},
    {"+L", TypeTag::kLargeList},
    {"+vl", TypeTag::kListView},
    {"+vL", TypeTag::kLargeListView},
    {"+w", TypeTag::kFixedSizeList, 0, {}, Argument::kNumbers},
    {"+s", TypeTag::kStruct},
    {"+m", TypeTag::kMap, 0, {}, Argument::kKeysSorted},
    {"+us", TypeTag::kUnion, 1, {0}, Argument::kTypeIds},
    {"+ud", TypeTag::kUnion, 1, {1}, Argument::kTypeIds},
    {"+r", TypeTag::kRunEndEncoded},
};

// Parses numbers between commas, which schema::parse_format() has checked.
std::vector<int32_t> parse_numbers(std::string_view text) {
  std::vector<int32_t> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    int32_t number = 0;
    if (std::from_chars(text.data(), text.data() + comma, number).ec != std::errc()) {
      throw Error(ENOTSUP, "IPC has no numbers above 2147483647 in types");
    }
    numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

Values read_values(const FlatTable* table, const Parameters& parameters) {
  Values values{};
  for (size_t i = 0; i < parameters.n; ++i) {
    const auto [width, fallback] = parameters.of[i];
    const auto slot = static_cast<Slot>(i);
    if (table == nullptr) {
      values[i] = fallback;
    } else if (width == Width::kFlag) {
      values[i] = table->number<bool>(slot, fallback != 0) ? 1 : 0;
    } else if (width == Width::kShort) {
      values[i] = table->number<int16_t>(slot, static_cast<int16_t>(fallback));
    } else {
      values[i] = table->number<int32_t>(slot, fallback);
    }
  }
  return values;
}

Written write_table(FlatWriter& writer, const Parameters& parameters, const Values& values, Slot text_slot,
                    Written text) {
  return writer.table([&] {
    for (size_t i = 0; i < parameters.n; ++i) {
      const auto [width, fallback] = parameters.of[i];
      const auto slot = static_cast<Slot>(i);
      switch (width) {
        case Width::kFlag: writer.number<bool>(slot, values[i] != 0, fallback != 0); break;
        case Width::kShort:
          writer.number<int16_t>(slot, static_cast<int16_t>(values[i]), static_cast<int16_t>(fallback));
          break;
        case Width::kInt: writer.number<int32_t>(slot, values[i], fallback); break;
      }
    }
    writer.refer(text_slot, text);
  });
}

// Returns the format of a tag and its parameters.
const Known& find(TypeTag tag, const Values& values) {
  const auto matches = [&](const Known& known) {
    return known.tag == tag && std::equal(values.begin(), values.begin() + known.n_fixed, known.fixed.begin());
  };
  const auto* const found = std::ranges::find_if(kKnown, matches);
  if (found != std::end(kKnown)) return *found;
  const auto& parameters = parameters_of(tag);
  if (parameters.n == 0) throw Error(ENOTSUP, "the type has the unknown number " + std::to_string(int{uint8_t(tag)}));
  std::string numbers = std::to_string(values[0]);
  for (size_t i = 1; i < parameters.n; ++i) numbers += ", " + std::to_string(values[i]);
  throw Error(EINVAL, std::string("no type ") + parameters.name + " has the parameters " + numbers);
}

std::string read_time_zone(const FlatTable* table) {
  const auto zone = table == nullptr ? std::nullopt : table->text(type_table::kTimeZone);
  if (!zone) return {};
  if (zone->find('\0') != std::string_view::npos) throw Error(EINVAL, "the time zone has a zero byte");
  return std::string(*zone);
}

// The type ids are 0, 1, 2, ... if the type has none.
std::string read_type_ids(const FlatTable* table, int64_t n_children) {
  constexpr size_t kMost = 128;
  std::vector<int32_t> ids;
  if (table != nullptr && table->has(type_table::kTypeIds)) {
    ids = table->vector<int32_t>(type_table::kTypeIds);
  } else {
    for (int32_t id = 0; id < std::min<int64_t>(n_children, kMost + 1); ++id) ids.push_back(id);
  }
  if (ids.size() > kMost) throw Error(EINVAL, "a union has more than 128 type ids");
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

std::string decimal_text(const Values& values) {
  const auto [precision, scale, bits] = values;
  std::string text = std::to_string(precision) + "," + std::to_string(scale);
  if (bits != 128) text += "," + std::to_string(bits);
  return text;
}

}  // namespace

WrittenType write_type(FlatWriter& writer, std::string_view format, int64_t flags) {
  const size_t colon = format.find(':');
  const auto* const found = std::ranges::find(kKnown, format.substr(0, colon), &Known::head);
  assert(found != std::end(kKnown));
  const Known& known = *found;
  const auto argument = colon == std::string_view::npos ? std::string_view() : format.substr(colon + 1);
  const auto& parameters = parameters_of(known.tag);
  Values values = known.fixed;
  Written text;
  switch (known.argument) {
    case Argument::kNone: break;
    case Argument::kNumbers:
    case Argument::kDecimal: {
      values[2] = 128;  // the bit width that a decimal leaves out
      std::ranges::copy(parse_numbers(argument), values.begin());
      break;
    }
    case Argument::kTimeZone:
      if (!argument.empty()) text = writer.text(argument);
      break;
    case Argument::kTypeIds: text = writer.vector<int32_t>(parse_numbers(argument)); break;
    case Argument::kKeysSorted: values[0] = (flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0 ? 1 : 0; break;
  }
  static_assert(type_table::kTimeZone == type_table::kTypeIds);
  return {known.tag, write_table(writer, parameters, values, type_table::kTimeZone, text)};
}

ReadType read_type(const FlatTable& field) {
  const auto tag = static_cast<TypeTag>(field.number<uint8_t>(field_table::kTypeTag, 0));
  const auto table = field.table(field_table::kType);
  const auto* const found = table ? &*table : nullptr;
  const Values values = read_values(found, parameters_of(tag));
  const Known& known = find(tag, values);
  ReadType type{.format = std::string(known.head)};
  switch (known.argument) {
    case Argument::kNone: break;
    case Argument::kNumbers: type.format += ":" + std::to_string(values[0]); break;
    case Argument::kDecimal: type.format += ":" + decimal_text(values); break;
    case Argument::kTimeZone: type.format += ":" + read_time_zone(found); break;
    case Argument::kTypeIds: type.format += ":" + read_type_ids(found, field.count(field_table::kChildren)); break;
    case Argument::kKeysSorted: type.flags = values[0] != 0 ? ARROW_FLAG_MAP_KEYS_SORTED : 0; break;
  }
  return type;
}

Written write_index_type(FlatWriter& writer, std::string_view format) { return write_type(writer, format, 0).table; }

std::string read_index_type(const FlatTable& encoding) {
  const auto table = encoding.table(dictionary_encoding::kIndexType);
  if (!table) return "i";
  return std::string(find(TypeTag::kInt, read_values(&*table, parameters_of(TypeTag::kInt))).head);
}

}  // namespace arrowdevice::ipc
