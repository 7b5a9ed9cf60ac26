// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <cstring>

namespace arrowdevice::bench {
namespace {

constexpr size_t kTextBytes = 10;

// The batch owns all memory.
void release_array(ArrowArray* array) { array->release = nullptr; }
void release_schema(ArrowSchema* schema) { schema->release = nullptr; }

// Fills the structs of an array, except for its children. They own nothing.
void describe(ArrowArray& array, ArrowSchema& schema, const char* format, int64_t rows, const void** buffers,
              int64_t n_buffers) {
  array.length = rows;
  array.n_buffers = n_buffers;
  array.buffers = buffers;
  array.release = release_array;
  schema.format = format;
  schema.name = "";
  schema.release = release_schema;
}

constexpr Bytes kAbsent{};

size_t bytes_of(int64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

// Returns bytes with `count` values in turn. If that is a prime number, neighbouring values differ, whatever their
// width.
AlignedVector<char> different_bytes(size_t size, char first, size_t count) {
  AlignedVector<char> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(first + static_cast<char>(i % count));
  return bytes;
}

// Returns the offsets 0, step, 2 * step, ...
AlignedVector<char> regular_offsets(int64_t rows, int32_t step) {
  AlignedVector<char> bytes(static_cast<size_t>(rows + 1) * sizeof step);
  for (int64_t row = 0; row <= rows; ++row) {
    const auto offset = static_cast<int32_t>(row * step);
    std::memcpy(bytes.data() + row * int64_t{sizeof offset}, &offset, sizeof offset);
  }
  return bytes;
}

}  // namespace

Bytes RecordBatch::own(AlignedVector<char> memory) {
  const auto& owned = memory_.emplace_back(std::move(memory));
  return {owned.data(), owned.size()};
}

RecordBatch::Field& RecordBatch::add(const char* format, int64_t rows, const std::vector<Bytes>& buffers,
                                     const std::vector<Field*>& children) {
  auto& field = *fields_.emplace_back(std::make_unique<Field>());
  for (const Bytes& bytes : buffers) {
    field.buffers.push_back(bytes.data);
    if (bytes.data != nullptr) buffers_.push_back(bytes);
  }
  for (Field* const child : children) {
    field.arrays.push_back(&child->array);
    field.schemas.push_back(&child->schema);
  }
  describe(field.array, field.schema, format, rows, field.buffers.data(), std::ssize(field.buffers));
  field.array.n_children = field.schema.n_children = std::ssize(children);
  field.array.children = field.arrays.data();
  field.schema.children = field.schemas.data();
  return field;
}

RecordBatch::Field& RecordBatch::add_numbers(const char* format, int64_t rows, int64_t bits) {
  return add(format, rows, {kAbsent, own(different_bytes(bytes_of(rows * bits), 0, 127))});
}

RecordBatch::Field& RecordBatch::add_texts(int64_t rows) {
  const Bytes offsets = own(regular_offsets(rows, int32_t{kTextBytes}));
  return add("u", rows, {kAbsent, offsets, own(different_bytes(static_cast<size_t>(rows) * kTextBytes, 'a', 23))});
}

void RecordBatch::set_columns(int64_t rows, const std::vector<Field*>& columns) {
  const Field& root = add("+s", rows, {kAbsent}, columns);
  array_.array = root.array;
  array_.device_type = ARROW_DEVICE_CPU;
  array_.device_id = -1;
  schema_ = root.schema;
}

Batch::Batch(int64_t columns, int64_t rows) : rows_(rows), values_(static_cast<size_t>(columns * rows)) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<int64_t>(i);
  std::vector<Field*> all;
  for (int64_t i = 0; i < columns; ++i) {
    all.push_back(&add("l", rows, {kAbsent, {column(i), static_cast<size_t>(rows) * sizeof(int64_t)}}));
  }
  set_columns(rows, all);
}

Mixed::Mixed(int64_t columns, int64_t rows) {
  std::vector<Field*> all;
  for (int64_t i = 0; i < columns; ++i) {
    switch (i % 5) {
      case 0: all.push_back(&add_numbers("i", rows, 32)); break;
      case 1: all.push_back(&add_numbers("l", rows, 64)); break;
      case 2: all.push_back(&add_numbers("g", rows, 64)); break;
      case 3: all.push_back(&add_texts(rows)); break;
      default: all.push_back(&add_numbers("b", rows, 1));
    }
  }
  set_columns(rows, all);
}

Varied::Varied(int64_t columns, int64_t rows) {
  std::vector<Field*> all;
  for (int64_t i = 0; i < columns; ++i) all.push_back(&add_column(i % 6, rows));
  set_columns(rows, all);
}

RecordBatch::Field& Varied::add_column(int64_t type, int64_t rows) {
  switch (type) {
    case 0: {
      const Bytes all_null = own(AlignedVector<char>(bytes_of(rows)));
      Field& nullable = add("i", rows, {all_null, own(different_bytes(bytes_of(rows * 32), 0, 127))});
      nullable.array.null_count = -1;
      return nullable;
    }
    case 1: return add_numbers("g", rows, 64);
    case 2: return add_texts(rows);
    case 3: return add_numbers("b", rows, 1);
    case 4: {
      Field& items = add_numbers("i", rows * 2, 32);
      return add("+l", rows, {kAbsent, own(regular_offsets(rows, 2))}, {&items});
    }
    default: {
      Field& number = add_numbers("i", rows, 32);
      Field& real = add_numbers("g", rows, 64);
      return add("+s", rows, {kAbsent}, {&number, &real});
    }
  }
}

Texts::Texts(int64_t rows) : offsets_(static_cast<size_t>(rows) + 1), bytes_(static_cast<size_t>(rows) * kTextBytes) {
  for (size_t i = 0; i < offsets_.size(); ++i) offsets_[i] = static_cast<int32_t>(i * kTextBytes);
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>('a' + i % 26);
  buffers_[1] = offsets_.data();
  buffers_[2] = bytes_.data();
  describe(array_.array, schema_, "u", rows, buffers_, 3);
  array_.device_type = ARROW_DEVICE_CPU;
  array_.device_id = -1;
}

}  // namespace arrowdevice::bench
