// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <cstring>

namespace arrowdevice::bench {
namespace {

constexpr size_t kTextBytes = 10;

// The batch owns all memory.
void release_array(ArrowArray* array) { array->release = nullptr; }
void release_schema(ArrowSchema* schema) { schema->release = nullptr; }

// Fills the structs of an array without children. They own nothing.
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

// Makes a struct of the children, which the caller owns.
void make_root(int64_t rows, const void** no_validity, std::vector<ArrowArray*>& arrays,
               std::vector<ArrowSchema*>& schemas, ArrowDeviceArray& array, ArrowSchema& schema) {
  array.array.length = rows;
  array.array.n_buffers = 1;
  array.array.buffers = no_validity;
  array.array.n_children = static_cast<int64_t>(arrays.size());
  array.array.children = arrays.data();
  array.array.release = release_array;
  array.device_type = ARROW_DEVICE_CPU;
  array.device_id = -1;
  schema.format = "+s";
  schema.name = "";
  schema.n_children = static_cast<int64_t>(schemas.size());
  schema.children = schemas.data();
  schema.release = release_schema;
}

}  // namespace

Batch::Batch(int64_t columns, int64_t rows) : rows_(rows), values_(static_cast<size_t>(columns * rows)) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<int64_t>(i);
  for (int64_t i = 0; i < columns; ++i) {
    auto& column = *columns_.emplace_back(std::make_unique<Column>());
    column.buffers[1] = this->column(i);
    describe(column.array, column.schema, "l", rows, column.buffers, 2);
    arrays_.push_back(&column.array);
    schemas_.push_back(&column.schema);
  }
  make_root(rows, root_buffers_, arrays_, schemas_, array_, schema_);
}

std::vector<Bytes> Batch::buffers() const {
  std::vector<Bytes> all;
  for (int64_t i = 0; i < std::ssize(columns_); ++i) {
    all.push_back({column(i), static_cast<size_t>(rows_) * sizeof(int64_t)});
  }
  return all;
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

Mixed::Mixed(int64_t columns, int64_t rows) {
  struct Type {
    const char* format;
    int64_t bits;  // of a value
  };
  constexpr Type kTypes[] = {{"i", 32}, {"l", 64}, {"g", 64}, {"u", 32}, {"b", 1}};
  for (int64_t i = 0; i < columns; ++i) {
    const Type& type = kTypes[static_cast<size_t>(i) % std::size(kTypes)];
    const bool is_text = std::strcmp(type.format, "u") == 0;
    auto& column = *columns_.emplace_back(std::make_unique<Column>());
    column.bytes.emplace_back(static_cast<size_t>((type.bits * (rows + (is_text ? 1 : 0)) + 7) / 8));
    if (is_text) {
      for (int64_t row = 0; row <= rows; ++row) {
        const auto offset = static_cast<int32_t>(row * int64_t{kTextBytes});
        std::memcpy(column.bytes[0].data() + row * int64_t{sizeof offset}, &offset, sizeof offset);
      }
      column.bytes.emplace_back(static_cast<size_t>(rows) * kTextBytes, 'a');
    }
    for (size_t j = 0; j < column.bytes.size(); ++j) column.buffers[1 + j] = column.bytes[j].data();
    describe(column.array, column.schema, type.format, rows, column.buffers, 1 + std::ssize(column.bytes));
    arrays_.push_back(&column.array);
    schemas_.push_back(&column.schema);
  }
  make_root(rows, root_buffers_, arrays_, schemas_, array_, schema_);
}

std::vector<Bytes> Mixed::buffers() const {
  std::vector<Bytes> all;
  for (const auto& column : columns_) {
    for (const auto& bytes : column->bytes) all.push_back({bytes.data(), bytes.size()});
  }
  return all;
}

namespace {

AlignedVector<char> zeros(int64_t bytes) { return AlignedVector<char>(static_cast<size_t>(bytes)); }

// Returns the offsets 0, step, 2 * step, ...
AlignedVector<char> regular_offsets(int64_t rows, int32_t step) {
  AlignedVector<char> bytes = zeros((rows + 1) * int64_t{sizeof step});
  for (int64_t row = 0; row <= rows; ++row) {
    const auto offset = static_cast<int32_t>(row * step);
    std::memcpy(bytes.data() + row * int64_t{sizeof offset}, &offset, sizeof offset);
  }
  return bytes;
}

std::vector<AlignedVector<char>> list_of(AlignedVector<char> first) {
  std::vector<AlignedVector<char>> all;
  all.push_back(std::move(first));
  return all;
}

}  // namespace

Varied::Field& Varied::add(const char* format, int64_t rows, std::vector<AlignedVector<char>> bytes, bool has_nulls) {
  auto& field = *fields_.emplace_back(std::make_unique<Field>());
  field.bytes = std::move(bytes);
  if (!has_nulls) field.buffers.push_back(nullptr);
  for (const auto& one : field.bytes) field.buffers.push_back(one.data());
  describe(field.array, field.schema, format, rows, field.buffers.data(), std::ssize(field.buffers));
  if (has_nulls) field.array.null_count = rows;
  return field;
}

Varied::Field& Varied::add_parent(const char* format, int64_t rows, const std::vector<Field*>& children,
                                  std::vector<AlignedVector<char>> bytes) {
  auto& field = add(format, rows, std::move(bytes));
  for (Field* const child : children) {
    field.arrays.push_back(&child->array);
    field.schemas.push_back(&child->schema);
  }
  field.array.n_children = field.schema.n_children = std::ssize(children);
  field.array.children = field.arrays.data();
  field.schema.children = field.schemas.data();
  return field;
}

Varied::Varied(int64_t columns, int64_t rows) {
  const int64_t bits = (rows + 7) / 8;
  for (int64_t i = 0; i < columns; ++i) {
    Field* column = nullptr;
    switch (i % 6) {
      case 0: {
        auto bytes = list_of(zeros(bits));  // every row is null
        bytes.push_back(zeros(rows * 4));
        column = &add("i", rows, std::move(bytes), true);
        column->array.null_count = -1;
        break;
      }
      case 1: column = &add("g", rows, list_of(zeros(rows * 8))); break;
      case 2: {
        auto bytes = list_of(regular_offsets(rows, int32_t{kTextBytes}));
        bytes.emplace_back(static_cast<size_t>(rows) * kTextBytes, 'a');
        column = &add("u", rows, std::move(bytes));
        break;
      }
      case 3: column = &add("b", rows, list_of(zeros(bits))); break;
      case 4: {
        auto& items = add("i", rows * 2, list_of(zeros(rows * 2 * 4)));
        column = &add_parent("+l", rows, {&items}, list_of(regular_offsets(rows, 2)));
        break;
      }
      default: {
        auto& number = add("i", rows, list_of(zeros(rows * 4)));
        auto& real = add("g", rows, list_of(zeros(rows * 8)));
        column = &add_parent("+s", rows, {&number, &real});
      }
    }
    arrays_.push_back(&column->array);
    schemas_.push_back(&column->schema);
  }
  make_root(rows, root_buffers_, arrays_, schemas_, array_, schema_);
}

std::vector<Bytes> Varied::buffers() const {
  std::vector<Bytes> all;
  for (const auto& field : fields_) {
    for (const auto& bytes : field->bytes) all.push_back({bytes.data(), bytes.size()});
  }
  return all;
}

}  // namespace arrowdevice::bench
