// SPDX-License-Identifier: Apache-2.0
#include "support/shape.h"

#include <array>
#include <stdexcept>
#include <string>

namespace arrowdevice::testing {

namespace {

struct FixedFormat {
  std::string_view format;
  int64_t bits;
};

constexpr std::array kFixedFormats = std::to_array<FixedFormat>({
    {"b", 1},    {"c", 8},    {"C", 8},    {"s", 16},    {"S", 16},   {"i", 32},   {"I", 32},
    {"l", 64},   {"L", 64},   {"e", 16},   {"f", 32},    {"g", 64},   {"tdD", 32}, {"tdm", 64},
    {"tts", 32}, {"ttm", 32}, {"ttu", 64}, {"ttn", 64},  {"tDs", 64}, {"tDm", 64}, {"tDu", 64},
    {"tDn", 64}, {"tiM", 32}, {"tiD", 64}, {"tin", 128},
});

std::vector<int64_t> numbers(std::string_view text) {
  std::vector<int64_t> values;
  std::string one;
  for (const char c : text) {
    if (c == ',') {
      values.push_back(std::stoll(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!one.empty()) values.push_back(std::stoll(one));
  return values;
}

Shape of(Kind kind, int width = 0) {
  Shape shape;
  shape.kind = kind;
  shape.width = width;
  return shape;
}

Shape fixed(int64_t bits) {
  Shape shape = of(Kind::kFixed);
  shape.bits = bits;
  return shape;
}

Shape union_of(Kind kind, std::string_view ids) {
  Shape shape = of(kind);
  for (const int64_t id : numbers(ids)) shape.type_ids.push_back(static_cast<int>(id));
  return shape;
}

}  // namespace

int64_t Shape::n_buffers() const noexcept {
  switch (kind) {
    case Kind::kNull:
    case Kind::kRunEndEncoded: return 0;
    case Kind::kStruct:
    case Kind::kFixedSizeList:
    case Kind::kSparseUnion: return 1;
    case Kind::kFixed:
    case Kind::kList:
    case Kind::kDenseUnion: return 2;
    case Kind::kBinary:
    case Kind::kView:
    case Kind::kListView: return 3;
  }
  return -1;
}

Shape shape_of(std::string_view format) {
  for (const FixedFormat& known : kFixedFormats) {
    if (known.format == format) return fixed(known.bits);
  }
  if (format.starts_with("ts") && format.size() > 3 && format[3] == ':') return fixed(64);
  if (format.starts_with("w:")) return fixed(8 * numbers(format.substr(2)).at(0));
  if (format.starts_with("d:")) {
    const std::vector<int64_t> parts = numbers(format.substr(2));
    return fixed(parts.size() == 3 ? parts[2] : 128);
  }
  if (format == "n") return of(Kind::kNull);
  if (format == "z" || format == "u" || format == "Z" || format == "U") {
    Shape shape = of(Kind::kBinary, format == "z" || format == "u" ? 4 : 8);
    shape.is_utf8 = format == "u" || format == "U";
    return shape;
  }
  if (format == "vz" || format == "vu") {
    Shape shape = of(Kind::kView);
    shape.is_utf8 = format == "vu";
    return shape;
  }
  if (format == "+l" || format == "+L") return of(Kind::kList, format == "+l" ? 4 : 8);
  if (format == "+vl" || format == "+vL") return of(Kind::kListView, format == "+vl" ? 4 : 8);
  if (format == "+s") return of(Kind::kStruct);
  if (format == "+r") return of(Kind::kRunEndEncoded);
  if (format == "+m") {
    Shape shape = of(Kind::kList, 4);
    shape.is_map = true;
    return shape;
  }
  if (format.starts_with("+w:")) {
    Shape shape = of(Kind::kFixedSizeList);
    shape.list_size = numbers(format.substr(3)).at(0);
    return shape;
  }
  if (format.starts_with("+ud:")) return union_of(Kind::kDenseUnion, format.substr(4));
  if (format.starts_with("+us:")) return union_of(Kind::kSparseUnion, format.substr(4));
  throw std::invalid_argument("no such format: " + std::string(format));
}

}  // namespace arrowdevice::testing
