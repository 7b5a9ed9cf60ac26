// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

namespace arrowdevice::bench {
namespace {

constexpr size_t kTextBytes = 10;

// The batch owns all memory.
void release_array(ArrowArray* array) { array->release = nullptr; }
void release_schema(ArrowSchema* schema) { schema->release = nullptr; }

}  // namespace

Batch::Batch(int64_t columns, int64_t rows) : rows_(rows), values_(static_cast<size_t>(columns * rows)) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<int64_t>(i);
  for (int64_t i = 0; i < columns; ++i) {
    auto& column = *columns_.emplace_back(std::make_unique<Column>());
    column.buffers[1] = this->column(i);
    column.array.length = rows;
    column.array.n_buffers = 2;
    column.array.buffers = column.buffers;
    column.array.release = release_array;
    column.schema.format = "l";
    column.schema.name = "";
    column.schema.release = release_schema;
    arrays_.push_back(&column.array);
    schemas_.push_back(&column.schema);
  }
  array_.array.length = rows;
  array_.array.n_buffers = 1;
  array_.array.buffers = root_buffers_;
  array_.array.n_children = columns;
  array_.array.children = arrays_.data();
  array_.array.release = release_array;
  array_.device_type = ARROW_DEVICE_CPU;
  array_.device_id = -1;
  schema_.format = "+s";
  schema_.name = "";
  schema_.n_children = columns;
  schema_.children = schemas_.data();
  schema_.release = release_schema;
}

Texts::Texts(int64_t rows) : offsets_(static_cast<size_t>(rows) + 1), bytes_(static_cast<size_t>(rows) * kTextBytes) {
  for (size_t i = 0; i < offsets_.size(); ++i) offsets_[i] = static_cast<int32_t>(i * kTextBytes);
  for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>('a' + i % 26);
  buffers_[1] = offsets_.data();
  buffers_[2] = bytes_.data();
  array_.array.length = rows;
  array_.array.n_buffers = 3;
  array_.array.buffers = buffers_;
  array_.array.release = release_array;
  array_.device_type = ARROW_DEVICE_CPU;
  array_.device_id = -1;
  schema_.format = "u";
  schema_.name = "";
  schema_.release = release_schema;
}

}  // namespace arrowdevice::bench
