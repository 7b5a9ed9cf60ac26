// SPDX-License-Identifier: Apache-2.0
// The works that bench/peers.cc compares. Each function first checks the result of one call, and then returns the call.
// The batch must outlive the call. The result of a call is released within the call.
#pragma once

#include <stdexcept>
#include <string>

#include "batch.h"
#include "peer_results.h"
#include "turns.h"

namespace arrowdevice::bench {

// Throws an exception if the copy does not have the values of the batch from `first_row` on. The message names `peer`,
// which made the copy. Releases the copy.
void check_copy(const char* peer, ArrowArray& copy, const RecordBatch& batch, int64_t first_row = 0);

// Throws an exception if an imported column does not have its data in the buffer of the batch. `data` returns the data
// of a column.
template <typename Data>
void check_import(const char* peer, const RecordBatch& batch, Data&& data) {
  for (int64_t i = 0; i < batch.array().array.n_children; ++i) {
    if (data(i) == batch.array().array.children[i]->buffers[1]) continue;
    throw std::runtime_error(std::string("an import by ") + peer + " has other buffers");
  }
}

namespace library {
Work copy(const RecordBatch& batch);
// Returns the memory to the system after each copy, so that each copy fills new memory.
Work copy_into_new_memory(const RecordBatch& batch);
Work copy_last_rows(const RecordBatch& batch, int64_t rows);
Work import(const RecordBatch& batch);
Work validate(const RecordBatch& batch);
}  // namespace library

namespace nanoarrow {
std::string version();
// Copies with ArrowDeviceArrayViewCopy().
Work copy(const RecordBatch& batch);
// Appends the rows to a new array, because ArrowDeviceArrayViewCopy() copies all rows of a slice's buffers. The columns
// are int64 or utf8.
Work copy_last_rows(const RecordBatch& batch, int64_t rows);
Work import(const RecordBatch& batch);
}  // namespace nanoarrow

namespace arrow_cpp {
std::string version();
// Copies with RecordBatch::CopyTo(). Neither the import of the batch nor an export of the copy is part of the call.
Work copy(const RecordBatch& batch);
// Concatenates the rows, because RecordBatch::CopyTo() copies all rows of a slice's buffers.
Work copy_last_rows(const RecordBatch& batch, int64_t rows);
// Imports with a known schema.
Work import(const RecordBatch& batch);
// Validates with RecordBatch::ValidateFull(), without an import.
Work validate(const RecordBatch& batch);
}  // namespace arrow_cpp

}  // namespace arrowdevice::bench
