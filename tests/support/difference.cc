// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "support/reader.h"

namespace arrowdevice::testing {

namespace {

constexpr size_t kLongestText = 120;

std::string shortened(const Value& value) {
  std::string text = value.text();
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + "...";
  return text;
}

// Returns the path of the first difference below two values that are not equal.
std::string place(const Reader& reader, const Value& a, const Value& b, const std::string& path) {
  if (a.kind == b.kind && a.type_id == b.type_id && a.children.size() == b.children.size()) {
    for (size_t i = 0; i < a.children.size(); ++i) {
      if (a.children[i] == b.children[i]) continue;
      const Reader* below = &reader;
      while (below->dictionary() != nullptr || below->shape().kind == Kind::kRunEndEncoded) {
        below = below->dictionary() != nullptr ? below->dictionary() : &below->children()[1];
      }
      const std::string index = "[" + std::to_string(i) + "]";
      if (a.kind == Value::Kind::kList) return place(below->children()[0], a.children[i], b.children[i], path + index);
      if (a.kind == Value::Kind::kUnion) {
        const auto& ids = below->shape().type_ids;
        const auto child = static_cast<size_t>(std::find(ids.begin(), ids.end(), a.type_id) - ids.begin());
        return place(below->children()[child], a.children[i], b.children[i],
                     path + "." + below->children()[child].name());
      }
      const std::string& name = below->children()[i].name();
      return place(below->children()[i], a.children[i], b.children[i], path + (name.empty() ? index : "." + name));
    }
  }
  return path + ": " + shortened(a) + " against " + shortened(b);
}

std::string different_rows(const Reader& a, int64_t a_row, const Reader& b, int64_t b_row, int64_t rows,
                           const std::string& path) {
  for (int64_t i = 0; i < rows; ++i) {
    std::string where = path + "row " + std::to_string(i);
    Value left;
    Value right;
    try {
      left = a.value(a_row + i);
    } catch (const std::runtime_error& error) {
      return where + ": the first is not readable: " + error.what();
    }
    try {
      right = b.value(b_row + i);
    } catch (const std::runtime_error& error) {
      return where + ": the second is not readable: " + error.what() + ", expected " + shortened(left);
    }
    if (!(left == right)) return place(a, left, right, where);
  }
  return "";
}

std::string different_dictionaries(const Reader& a, const Reader& b, const std::string& path) {
  for (size_t i = 0; i < a.children().size() && i < b.children().size(); ++i) {
    std::string found = different_dictionaries(a.children()[i], b.children()[i], path + "." + a.children()[i].name());
    if (!found.empty()) return found;
  }
  if (a.dictionary() == nullptr || b.dictionary() == nullptr) return "";
  const Reader& left = *a.dictionary();
  const Reader& right = *b.dictionary();
  const std::string where = path + ".dictionary: ";
  if (left.length() != right.length()) {
    return where + std::to_string(left.length()) + " against " + std::to_string(right.length()) + " values";
  }
  std::string found = different_rows(left, 0, right, 0, left.length(), where);
  return found.empty() ? different_dictionaries(left, right, path + ".dictionary") : found;
}

}  // namespace

std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, int64_t a_row, const ArrowSchema& b_schema,
                       const ArrowArray& b, int64_t b_row, int64_t rows) {
  try {
    const Reader left(a_schema, a);
    const Reader right(b_schema, b);
    if (a_row < 0 || rows < 0 || a_row + rows > left.length()) return "the first has no such rows";
    if (b_row < 0 || b_row + rows > right.length()) {
      return "the second has " + std::to_string(right.length()) + " rows, expected at least " +
             std::to_string(b_row + rows);
    }
    std::string found = different_rows(left, a_row, right, b_row, rows, "");
    return found.empty() ? different_dictionaries(left, right, "") : found;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string difference(const ArrowSchema& a_schema, const ArrowArray& a, const ArrowSchema& b_schema,
                       const ArrowArray& b) {
  if (a.length != b.length) return std::to_string(a.length) + " rows against " + std::to_string(b.length);
  return difference(a_schema, a, 0, b_schema, b, 0, a.length);
}

std::string problem(const ArrowSchema& schema, const ArrowArray& array) {
  try {
    Reader(schema, array).check(schema.name == nullptr ? "array" : schema.name);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string text_of(const ArrowSchema& schema, const ArrowArray& array) {
  try {
    const Reader reader(schema, array);
    std::string out;
    for (int64_t row = 0; row < reader.length(); ++row) {
      out += (row == 0 ? "" : ", ") + reader.value(row).text();
    }
    return "[" + out + "]";
  } catch (const std::exception& error) {
    return std::string("unreadable: ") + error.what();
  }
}

}  // namespace arrowdevice::testing
