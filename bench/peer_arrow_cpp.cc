// SPDX-License-Identifier: Apache-2.0
#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/c/bridge.h>
#include <arrow/config.h>
#include <arrow/device.h>
#include <arrow/record_batch.h>

#include <stdexcept>

#include "peers.h"

namespace arrowdevice::bench {
namespace {

using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using SchemaPtr = std::shared_ptr<arrow::Schema>;

void must(const arrow::Status& status) {
  if (!status.ok()) throw std::runtime_error("Arrow C++: " + status.ToString());
}
template <typename Value>
Value must(arrow::Result<Value> result) {
  must(result.status());
  return std::move(result).ValueUnsafe();
}

SchemaPtr schema_of(const RecordBatch& batch) {
  ArrowSchema schema = batch.schema();  // the batch keeps its memory
  return must(arrow::ImportSchema(&schema));
}

BatchPtr import_batch(const RecordBatch& batch, const SchemaPtr& schema) {
  ArrowArray array = batch.array().array;
  return must(arrow::ImportRecordBatch(&array, schema));
}

BatchPtr import_batch(const RecordBatch& batch) { return import_batch(batch, schema_of(batch)); }

BatchPtr copy_all(const BatchPtr& batch) { return must(batch->CopyTo(arrow::default_cpu_memory_manager())); }

BatchPtr copy_rows(const BatchPtr& batch, int64_t first, int64_t rows) {
  arrow::ArrayVector columns;
  for (const auto& column : batch->columns()) {
    columns.push_back(must(arrow::Concatenate({column->Slice(first, rows)})));
  }
  return arrow::RecordBatch::Make(batch->schema(), rows, std::move(columns));
}

void check_equal(const char* peer, const arrow::RecordBatch& copied, const arrow::RecordBatch& expected) {
  const auto valid = copied.ValidateFull();
  if (valid.ok() && copied.Equals(expected)) return;
  throw std::runtime_error(std::string("a copy by ") + peer + " has other values. " + valid.message());
}

}  // namespace

void check_copy(const char* peer, ArrowArray& copy, const RecordBatch& batch, int64_t first_row) {
  const auto expected = import_batch(batch);
  check_equal(peer, *must(arrow::ImportRecordBatch(&copy, expected->schema())), *expected->Slice(first_row));
}

std::string arrow_cpp::version() { return ARROW_VERSION_STRING; }

Work arrow_cpp::copy(const RecordBatch& batch) {
  const auto imported = import_batch(batch);
  check_equal(kArrowCpp, *copy_all(imported), *imported);
  return [imported] { copy_all(imported); };
}

Work arrow_cpp::copy_last_rows(const RecordBatch& batch, int64_t rows) {
  const auto imported = import_batch(batch);
  const int64_t first = imported->num_rows() - rows;
  check_equal(kArrowCpp, *copy_rows(imported, first, rows), *imported->Slice(first));
  return [imported, first, rows] { copy_rows(imported, first, rows); };
}

Work arrow_cpp::import(const RecordBatch& batch) {
  const auto imported = import_batch(batch);
  check_import(kArrowCpp, batch,
               [&](int64_t i) { return imported->column_data(static_cast<int>(i))->buffers[1]->data(); });
  return [&batch, schema = imported->schema()] { import_batch(batch, schema); };
}

Work arrow_cpp::validate(const RecordBatch& batch) {
  const Work work = [imported = import_batch(batch)] { must(imported->ValidateFull()); };
  work();
  return work;
}

}  // namespace arrowdevice::bench
