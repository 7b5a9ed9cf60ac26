// SPDX-License-Identifier: Apache-2.0
#include "support/reader.h"

#include <cstring>
#include <stdexcept>

namespace arrowdevice::testing {

namespace {

constexpr int64_t kViewBytes = 16;
constexpr int64_t kInlineView = 12;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::string text(int64_t number) { return std::to_string(number); }

std::string hex(char byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return {kDigits[value >> 4], kDigits[value & 15]};
}

}  // namespace

bool Value::operator==(const Value& other) const {
  return kind == other.kind && bytes == other.bytes && type_id == other.type_id && children == other.children;
}

std::string Value::text() const {
  if (kind == Kind::kNull) return "null";
  std::string out;
  if (kind == Kind::kBytes && is_text) {
    // Escapes bytes that are not printable, so that garbage read as text does not corrupt the report.
    for (const char letter : bytes)
      out += letter >= ' ' && letter <= '~' ? std::string(1, letter) : "\\x" + hex(letter);
    return '"' + out + '"';
  }
  if (kind == Kind::kBytes) {
    // Prints the most significant byte first.
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) out += hex(*byte);
    return "0x" + out;
  }
  for (const Value& child : children) out += (out.empty() ? "" : ", ") + child.text();
  if (kind == Kind::kUnion) return std::to_string(type_id) + ":" + out;
  return kind == Kind::kList ? "[" + out + "]" : "{" + out + "}";
}

Reader::Reader(const ArrowSchema& schema, const ArrowArray& array)
    : shape_(shape_of(schema.format)), name_(schema.name == nullptr ? "" : schema.name), array_(&array) {
  if (array.release == nullptr) fail(name_ + ": the array is released");
  if (array.n_children != schema.n_children) {
    fail(name_ + ": " + text(array.n_children) + " children, the type has " + text(schema.n_children));
  }
  if ((array.dictionary == nullptr) != (schema.dictionary == nullptr)) {
    fail(name_ + ": only one of type and array has a dictionary");
  }
  if (shape_.kind == Kind::kView) {
    if (array.n_buffers < 3) fail(name_ + ": " + text(array.n_buffers) + " buffers, views have at least 3");
  } else if ((shape_.is_union() || shape_.kind == Kind::kNull) && array.n_buffers == shape_.n_buffers() + 1) {
    skipped_ = 1;
  } else if (array.n_buffers != shape_.n_buffers()) {
    fail(name_ + ": " + text(array.n_buffers) + " buffers, the type has " + text(shape_.n_buffers()));
  }
  for (int64_t i = 0; i < array.n_children; ++i) children_.emplace_back(*schema.children[i], *array.children[i]);
  if (array.dictionary != nullptr) dictionary_.emplace_back(*schema.dictionary, *array.dictionary);
}

const void* Reader::buffer(int64_t canonical_index) const { return array_->buffers[canonical_index + skipped_]; }

// Uses memcpy, because buffers need not be aligned.
int64_t Reader::integer(int64_t buffer_index, int width, int64_t slot) const {
  const auto* bytes = static_cast<const unsigned char*>(buffer(buffer_index));
  if (bytes == nullptr) fail("buffer " + text(buffer_index) + " is NULL");
  bytes += slot * width;
  switch (width) {
    case 1: {
      int8_t value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    case 2: {
      int16_t value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    case 4: {
      int32_t value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
    default: {
      int64_t value;
      std::memcpy(&value, bytes, sizeof value);
      return value;
    }
  }
}

bool Reader::is_null(int64_t row) const {
  if (shape_.kind == Kind::kNull) return true;
  if (!shape_.has_validity()) return false;
  const auto* bits = static_cast<const unsigned char*>(buffer(0));
  if (bits == nullptr) return false;
  const int64_t slot = array_->offset + row;
  return ((bits[slot / 8] >> (slot % 8)) & 1) == 0;
}

Value Reader::child_value(size_t child, int64_t row) const {
  const Reader& reader = children_[child];
  if (row < 0 || row >= reader.length()) {
    fail("row " + text(row) + " of child " + text(static_cast<int64_t>(child)) + ", which has " +
         text(reader.length()));
  }
  return reader.value(row);
}

size_t Reader::child_of_type_id(int64_t slot) const {
  const int64_t id = integer(0, 1, slot);
  for (size_t i = 0; i < shape_.type_ids.size(); ++i) {
    if (shape_.type_ids[i] == id) return i;
  }
  fail("type id " + text(id) + ", which the type does not have");
}

int64_t Reader::run_of(int64_t slot) const {
  const Reader& ends = children_[0];
  const int width = static_cast<int>(ends.shape_.bits / 8);
  int64_t low = 0;
  int64_t high = ends.length();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (ends.integer(1, width, ends.array_->offset + middle) > slot) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (low == ends.length()) fail("no run covers position " + text(slot));
  return low;
}

Value Reader::view_value(int64_t slot) const {
  Value made;
  made.kind = Value::Kind::kBytes;
  made.is_text = shape_.is_utf8;
  const auto* views = static_cast<const char*>(buffer(1));
  if (views == nullptr) fail("the views are NULL");
  const char* view = views + slot * kViewBytes;
  const int64_t size = integer(1, 4, slot * 4);
  if (size < 0) fail("a view of " + text(size) + " bytes");
  if (size <= kInlineView) {
    made.bytes.assign(view + 4, static_cast<size_t>(size));
    for (int64_t i = 4 + size; i < kViewBytes; ++i) {
      if (view[i] != 0) fail("the unused bytes of an inline view are not zero");
    }
    return made;
  }
  const int64_t n_variadic = array_->n_buffers - 3;
  const int64_t which = integer(1, 4, slot * 4 + 2);
  const int64_t start = integer(1, 4, slot * 4 + 3);
  if (which < 0 || which >= n_variadic) fail("a view into buffer " + text(which) + " of " + text(n_variadic));
  const int64_t available = integer(array_->n_buffers - 1, 8, which);
  if (start < 0 || start + size > available) {
    fail("a view of " + text(size) + " bytes at " + text(start) + " of " + text(available));
  }
  const auto* data = static_cast<const char*>(buffer(2 + which));
  made.bytes.assign(data + start, static_cast<size_t>(size));
  if (std::memcmp(view + 4, data + start, 4) != 0) fail("the prefix of a view is not that of its bytes");
  return made;
}

Value Reader::value(int64_t row) const {
  Value made;
  if (is_null(row)) return made;
  const int64_t slot = array_->offset + row;
  switch (shape_.kind) {
    case Kind::kNull: break;
    case Kind::kFixed:
      if (!dictionary_.empty()) {
        const int64_t index = integer(1, static_cast<int>(shape_.bits / 8), slot);
        if (index < 0 || index >= dictionary_.front().length()) {
          fail("index " + text(index) + " into a dictionary of " + text(dictionary_.front().length()));
        }
        return dictionary_.front().value(index);
      }
      made.kind = Value::Kind::kBytes;
      if (shape_.bits == 1) {
        const auto* bits = static_cast<const unsigned char*>(buffer(1));
        if (bits == nullptr) fail("the values are NULL");
        made.bytes.assign(1, static_cast<char>((bits[slot / 8] >> (slot % 8)) & 1));
      } else if (shape_.bits != 0) {
        const auto* bytes = static_cast<const char*>(buffer(1));
        if (bytes == nullptr) fail("the values are NULL");
        made.bytes.assign(bytes + slot * (shape_.bits / 8), static_cast<size_t>(shape_.bits / 8));
      }
      break;
    case Kind::kBinary: {
      made.kind = Value::Kind::kBytes;
      made.is_text = shape_.is_utf8;
      const int64_t begin = integer(1, shape_.width, slot);
      const int64_t end = integer(1, shape_.width, slot + 1);
      if (begin < 0 || end < begin) fail("text from " + text(begin) + " to " + text(end));
      if (end > begin) {
        const auto* bytes = static_cast<const char*>(buffer(2));
        if (bytes == nullptr) fail("the bytes are NULL");
        made.bytes.assign(bytes + begin, static_cast<size_t>(end - begin));
      }
      break;
    }
    case Kind::kView: return view_value(slot);
    case Kind::kList:
    case Kind::kListView:
    case Kind::kFixedSizeList: {
      made.kind = Value::Kind::kList;
      int64_t begin = slot * shape_.list_size;
      int64_t size = shape_.list_size;
      if (shape_.kind == Kind::kList) {
        begin = integer(1, shape_.width, slot);
        size = integer(1, shape_.width, slot + 1) - begin;
      } else if (shape_.kind == Kind::kListView) {
        begin = integer(1, shape_.width, slot);
        size = integer(2, shape_.width, slot);
      }
      if (size < 0) fail("a list of " + text(size) + " items");
      for (int64_t i = 0; i < size; ++i) made.children.push_back(child_value(0, begin + i));
      break;
    }
    case Kind::kStruct:
      made.kind = Value::Kind::kStruct;
      for (size_t i = 0; i < children_.size(); ++i) made.children.push_back(child_value(i, slot));
      break;
    case Kind::kSparseUnion:
    case Kind::kDenseUnion: {
      made.kind = Value::Kind::kUnion;
      const size_t child = child_of_type_id(slot);
      made.type_id = shape_.type_ids[child];
      made.children.push_back(child_value(child, shape_.kind == Kind::kSparseUnion ? slot : integer(1, 4, slot)));
      break;
    }
    case Kind::kRunEndEncoded: return child_value(1, run_of(slot));
  }
  return made;
}

}  // namespace arrowdevice::testing
